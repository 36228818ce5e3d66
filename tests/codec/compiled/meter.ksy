meta:
  id: meter
  endian: be
seq:
  - id: magic
    contents: [0x7e]
  - id: kind
    type: u1
    enum: kind
  - id: body
    type:
      switch-on: kind
      cases:
        'kind::reading': reading
        'kind::refused': refused
types:
  reading:
    seq:
      - id: num_values
        type: u1
      - id: values
        type: u2
        repeat: expr
        repeat-expr: num_values
      - id: place
        type: point
      - id: len_name
        type: u1
      - id: name
        type: str
        size: len_name
        encoding: UTF-8
  refused:
    seq:
      - id: reasons
        type: u1
        repeat: eos
  point:
    seq:
      - id: x
        type: s2
      - id: y
        type: s2
enums:
  kind:
    1: reading
    2: refused
