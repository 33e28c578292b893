package attach

const attachHelp = `type a line to steer the agent, or:
  /follow-up TEXT   add it to the next prompt
  /withdraw         take back what you sent last, if the agent does not have it yet
  /pause  /resume   pause the loop after this iteration, resume it
  /stop  /stop now  end the loop after this iteration, or at once
  /answer TEXT      answer what the loop waits for; /answer 2 TEXT answers question 2
  /set KEY VALUE    change a setting, such as maximumIterations 30
  /kill             end the loop and its agent without asking
  /detach           leave; the loop goes on (also ctrl-d, ctrl-c)
arrows move within the line and through earlier ones, ctrl-z suspends
a line that begins with // is sent with one /`
