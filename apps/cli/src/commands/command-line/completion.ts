/** `lodge completion`: scripts for shells, which ask the command itself for every word. */
import type { Command } from 'commander';
import { Argument } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';

export default function completion(command: Command, on: On): void {
  command.addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']));
  examples(
    command.description('Print the script that completes commands, options, agents and contexts in your shell.'),
    ['source <(lodge completion bash)', 'in ~/.bashrc'],
    ['source <(lodge completion zsh)', 'in ~/.zshrc'],
    ['lodge completion fish > ~/.config/fish/completions/lodge.fish', 'once'],
  ).action(
    on(async (run, _options: object, shell: 'bash' | 'zsh' | 'fish') => {
      const { scripts } = await import('../../completion/scripts.ts');
      run.out.write(scripts[shell]);
    }),
  );
}
