/** `lodge ports`: ports of an agent that have an address, or that are tunnelled to this machine. */
import type { Port } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { showList } from '../../gathered.ts';
import { defineForward } from '../../ports/forward.ts';
import type { On } from '../../run.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { yesNo } from '../../terminal/words.ts';
import { integer } from '../../values.ts';

const most = 1000;
const port = integer(1, 65_535);

export default function ports(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .description('List the published ports of an agent.');
  examples(list, ['lodge ports list ada', 'show their addresses']).action(
    on(async (run, _options: object, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList<Port>(
        run,
        lodge.ports.list(id, run.call),
        most,
        [
          { title: 'port', value: (each) => each.port, keep: true, align: 'right' },
          { title: 'public', value: (each) => yesNo(each.public) },
          { title: 'address', value: ({ url }) => url, keep: true },
        ],
        'The agent has published no ports.',
      );
    }),
  );
  const publish = command
    .command('publish')
    .argument(...agentArgument)
    .argument('<port>', 'a port that a server in the machine listens on', port)
    .option('--public', 'without a key or a link: for everybody')
    .description('Give a port an address.');
  examples(publish, ['lodge ports publish ada 3000', 'give the web server of ada an address']).action(
    on(async (run, options: { readonly public?: true }, agent: string, number: number) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const made = await lodge.ports.publish(id, { port: number, public: options.public === true }, run.call);
      run.out.result(made, () => `${safeLine(made.url)}\n`);
    }),
  );
  const unpublish = command
    .command('unpublish')
    .argument(...agentArgument)
    .argument('<port>', 'the port', port)
    .description('Take the address of a port away.');
  examples(unpublish, ['lodge ports unpublish ada 3000', 'close it, after a question']).action(
    on(async (run, _options: object, agent: string, number: number) => {
      const id = await agentIdOf(run, agent);
      if (!run.isYes) await confirm(run, `Take the address of port ${number} away?`);
      const lodge = await run.lodge();
      const deleted = await lodge.ports.unpublish(id, number, run.call);
      run.out.result(deleted, () => `Port ${number} has no address any more.\n`);
    }),
  );
  defineForward(command, on);
}
