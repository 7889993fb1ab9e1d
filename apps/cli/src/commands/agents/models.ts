/** `lodge models`: agents and their members, as the models that OpenAI's clients speak to. */
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';

export default function models(command: Command, on: On): void {
  command.argument('[agent]', 'only this agent and its members');
  examples(command, ['lodge models', 'list all'], ['lodge models ada', 'list ada and its members']).action(
    on(async (run, _options: object, agent: string | undefined) => {
      const lodge = await run.lodge();
      const found =
        agent === undefined
          ? await lodge.models.list(run.call)
          : await lodge.models.agent(await agentIdOf(run, agent), run.call);
      run.out.table(found, found.data, [
        { title: 'model', value: ({ id }) => id, keep: true },
        { title: 'name', value: ({ name }) => name },
      ]);
    }),
  );
}
