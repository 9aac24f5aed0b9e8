/** `mcpx completion`: prints the script that makes a shell complete commands, options and servers. */

import { script } from '@bomb.sh/tab'
import { Argument, type Command } from 'commander'

const INSTALLATION = `
Installation:
  bash  echo 'source <(mcpx completion bash)' >> ~/.bashrc
  zsh   echo 'source <(mcpx completion zsh)' >> ~/.zshrc
  fish  mcpx completion fish > ~/.config/fish/completions/mcpx.fish`

export function define(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish', 'powershell']))
    .addHelpText('after', INSTALLATION)
    .action((shell: string) => script(shell, 'mcpx', 'mcpx'))
}
