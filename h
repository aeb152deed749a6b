localhost slots=2
