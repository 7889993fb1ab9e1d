/** `lodge open`: an agent's own pages in the browser, by a link that works once. */
import type { Command } from 'commander';
import { agentOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import type { On } from '../../run.ts';
import { openInBrowser, webAddress } from '../../terminal/browser.ts';
import { safeLine } from '../../terminal/safe.ts';
import { given, integer } from '../../values.ts';

interface OpenOptions {
  readonly dashboard?: true;
  readonly browser?: true;
  readonly port?: number;
  readonly path?: string;
  readonly print?: true;
}

export default function open(command: Command, on: On): void {
  command
    .argument(...agentArgument)
    .option('--dashboard', 'its dashboard instead of its gateway')
    .option('--browser', 'a view of its browser')
    .option('--port <port>', 'a port that it has published', integer(1, 65_535))
    .option('--path <path>', 'where on the page, such as /chat?new=1')
    .option('--print', 'print the link instead; whoever has it can open the page, once');
  examples(
    command,
    ['lodge open ada', 'open the page of ada'],
    ['lodge open ada --port 3000 --print', 'print a link to its web server'],
  ).action(
    on(async (run, { dashboard, browser, port, path, print }: OpenOptions, meant: string) => {
      if ([dashboard, browser, port].filter((each) => each !== undefined).length > 1)
        throw usageError('Only one of --dashboard, --browser and --port can be given.');
      const { id, name } = await agentOf(run, meant);
      const page = port !== undefined ? 'port' : dashboard ? 'dashboard' : browser ? 'browser' : 'gateway';
      const lodge = await run.lodge();
      const link = await lodge.links.create(id, given({ page, port, path }), run.call);
      const url = webAddress(link.url);
      if (print || run.out.isJson) return run.out.result(link, () => `${url}\n`);
      if (await openInBrowser(run.env, url))
        return run.out.note(`Opened the page of ${safeLine(name)} in the browser.`);
      run.out.note('There is no browser here. Open this link in one; it works once:');
      run.out.write(`${url}\n`);
    }),
  );
}
