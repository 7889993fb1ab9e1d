/** `lodge browser`: the browser in an agent's machine, and its mouse and keyboard. */
import type { Browser } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import type { On, Run } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import { safeLine } from '../../terminal/safe.ts';
import { given, integer } from '../../values.ts';

const seconds = integer(30, 3_600);

export default function browser(command: Command, on: On): void {
  const show = command
    .command('show', { isDefault: true })
    .argument(...agentArgument)
    .description('Show the state of the browser, its tabs, and the one who controls it.');
  examples(show, ['lodge browser ada', "show what ada's browser has open"]).action(
    on(async (run, _options: object, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const found = await lodge.browsers.get(id, run.call);
      run.out.result(found, () => fieldsOf(run, found));
    }),
  );
  const take = command
    .command('take')
    .argument(...agentArgument)
    .option('--seconds <number>', 'how long at most; 300 by default', seconds)
    .description("Take mouse and keyboard. The agent's own calls to its browser wait.");
  examples(take, ['lodge browser take ada --seconds 600', 'hold them for ten minutes']).action(
    on(async (run, options: { readonly seconds?: number }, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const taken = await lodge.browsers.takeControl(id, given({ seconds: options.seconds }), run.call);
      run.out.result(taken, () => `You control the browser until ${cell(taken.control_ends_at)}.\n`);
    }),
  );
  const release = command
    .command('release')
    .argument(...agentArgument)
    .description('Give mouse and keyboard back to the agent.');
  examples(release, ['lodge browser release ada', 'ada goes on']).action(
    on(async (run, _options: object, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const released = await lodge.browsers.releaseControl(id, run.call);
      run.out.result(released, () => 'The agent controls its browser.\n');
    }),
  );
}

function fieldsOf({ out }: Run, { enabled, status, message, controlled_by, control_ends_at, tabs }: Browser): string {
  return out.fields([
    ['status', cell(status)],
    ['why', cell(message)],
    ['controlled by', cell(controlled_by)],
    ['until', cell(control_ends_at)],
    ['view', enabled ? 'lodge open <agent> --browser' : null],
    ...tabs.map(({ title, url }): [string, string] => ['tab', safeLine(title === '' ? url : `${title} (${url})`)]),
  ]);
}
