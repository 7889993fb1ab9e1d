/** `lodge version`: the versions of both sides. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';
import { safeLine } from '../../terminal/safe.ts';
import { version as own } from '../../version.ts';

export default function version(command: Command, on: On): void {
  examples(
    command,
    ['lodge version', 'print both versions'],
    ['lodge --version', 'print that of the command alone'],
  ).action(
    on(async (run) => {
      const lodge = await run.anyLodge();
      const server = await lodge.service.health(run.call).then(
        (health) => safeLine(health.version),
        () => null,
      );
      const { url } = await run.choice();
      run.out.result(
        { version: own, server: { url, version: server } },
        () => `lodge ${own}\nserver ${server ?? 'not reached'} (${url})\n`,
      );
    }),
  );
}
