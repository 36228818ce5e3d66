Script started on 2026-11-22 19:45:37+00:00 [COMMAND="python3 machine.py x" <not executed on terminal>]
coin 10
coin 10
button
button
coffee
coffee

Script done on 2026-11-22 19:45:37+00:00 [COMMAND_EXIT_CODE="0"]
