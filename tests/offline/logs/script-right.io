Script started on 2026-11-22 19:45:34+00:00 [COMMAND="python3 machine.py " <not executed on terminal>]
coin 10
coin 10
button
button
coffee

Script done on 2026-11-22 19:45:35+00:00 [COMMAND_EXIT_CODE="0"]
