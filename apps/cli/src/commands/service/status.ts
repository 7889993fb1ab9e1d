/** `lodge status`: whether the server answers, and whether agents can be started. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import { CommandError, exitCodes } from '../../failure.ts';
import type { On } from '../../run.ts';
import { cell } from '../../terminal/output.ts';

export default function status(command: Command, on: On): void {
  examples(command, ['lodge status', 'show whether the server is ready; the exit code says it too']).action(
    on(async (run) => {
      const lodge = await run.anyLodge();
      const health = await lodge.service.health(run.call);
      const { url, name, apiKey } = await run.choice();
      run.out.result(health, () =>
        run.out.fields([
          ['server', cell(url)],
          ['status', run.out.paint(health.status === 'ok' ? 'green' : 'yellow', cell(health.status) ?? '')],
          ['step', cell(health.step)],
          ['version', cell(health.version)],
          ['context', cell(name)],
          ['signed in', apiKey === undefined ? 'no: lodge login' : 'with a key'],
        ]),
      );
      if (health.status !== 'ok')
        throw new CommandError(
          exitCodes.conflict,
          'The server is starting: agents cannot be started yet.',
          'Ask again in a while.',
        );
    }),
  );
}
