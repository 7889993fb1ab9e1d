/** `lodge connections`: services that an agent uses without holding their credentials. */
import type { Connection, PutConnection } from '@lodge/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { connectionBody } from '../../connections/body.ts';
import type { ConnectionSettings } from '../../connections/body.ts';
import { examples } from '../../examples.ts';
import { showList } from '../../gathered.ts';
import type { On } from '../../run.ts';
import { openInBrowser, webAddress } from '../../terminal/browser.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { yesNo } from '../../terminal/words.ts';
import { several } from '../../values.ts';

const most = 1000;
const nameArgument = ['<name>', 'name of the connection'] as const;

export default function connections(command: Command, on: On): void {
  defineReads(command, on);
  defineSet(command, on);
  defineOthers(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .description('List the connections of an agent.');
  examples(list, ['lodge connections list ada', 'show what ada may use']).action(
    on(async (run, _options: object, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList<Connection>(
        run,
        lodge.connections.list(id, run.call),
        most,
        [
          { title: 'name', value: ({ name }) => name, keep: true },
          { title: 'kind', value: ({ kind }) => kind },
          { title: 'address', value: ({ url }) => url },
          { title: 'enabled', value: ({ enabled }) => yesNo(enabled) },
          { title: 'consent', value: ({ oauth }) => oauth?.status },
          { title: 'reason', value: ({ status_reason }) => status_reason },
        ],
        'The agent has no connections.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...agentArgument)
    .argument(...nameArgument)
    .description('Show one connection.');
  examples(show, ['lodge connections show ada github', 'show what it allows']).action(
    on(async (run, _options: object, agent: string, name: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const found = await lodge.connections.get(id, name, run.call);
      run.out.result(found, () => connectionFields(run.out, found));
    }),
  );
}

function defineSet(command: Command, on: On): void {
  const set = command
    .command('set')
    .argument(...agentArgument)
    .argument(...nameArgument)
    .description('Make a connection, or replace its settings. Stored headers stay where none are given.')
    .addOption(new Option('--kind <kind>', 'mcp: tools of a server; http: requests').choices(['mcp', 'http']))
    .option('--address <url>', 'the address of the service')
    .option('--header <name=source>', 'a header that the host adds; NAME asks, or env:NAME, file:PATH, -', several)
    .option('--allow <methods path>', 'with http: what may be asked, such as "GET,POST /repos/*"', several)
    .option('--tool <name>', 'with mcp: a tool that the agent has; several times for several', several)
    .option('--oauth', 'with mcp: access by OAuth')
    .addOption(new Option('--enabled <yes or no>', 'whether it is used').choices(['yes', 'no']))
    .option('--input <path>', 'a JSON file with more fields of the request, - for stdin');
  examples(
    set,
    [
      'lodge connections set ada github --kind http --address https://api.github.com --header Authorization=env:GITHUB --allow "GET /repos/*"',
      'let ada read repositories',
    ],
    [
      'lodge connections set ada notion --kind mcp --address https://mcp.notion.com/mcp --oauth',
      'give ada the tools of a server',
    ],
  ).action(
    on(async (run, options: ConnectionSettings, agent: string, name: string) => {
      const body: PutConnection = await connectionBody(run, options);
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const put = await lodge.connections.put(id, name, body, run.call);
      run.out.result(put, () => connectionFields(run.out, put));
      if (!run.out.isJson && put.oauth?.status === 'needed')
        run.out.note(`Somebody must consent: lodge connections sign-in ${safeLine(agent)} ${safeLine(name)}`);
    }),
  );
}

function defineOthers(command: Command, on: On): void {
  const signIn = command
    .command('sign-in')
    .argument(...agentArgument)
    .argument(...nameArgument)
    .description('Consent to a connection by OAuth, in the browser.');
  examples(signIn, ['lodge connections sign-in ada notion', 'open the page of the service']).action(
    on(async (run, _options: object, agent: string, name: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const session = await lodge.connections.startOAuth(id, name, {}, run.call);
      const url = webAddress(session.authorization_url);
      if (run.out.isJson) return run.out.result(session, () => '');
      if (await openInBrowser(run.env, url)) return run.out.note('Opened the page of the service in the browser.');
      run.out.note('There is no browser here. Open this page in one:');
      run.out.write(`${url}\n`);
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...agentArgument)
    .argument(...nameArgument)
    .description('Delete a connection with its credentials.');
  examples(remove, ['lodge connections delete ada github', 'delete it, after a question']).action(
    on(async (run, _options: object, agent: string, name: string) => {
      const id = await agentIdOf(run, agent);
      if (!run.isYes) await confirm(run, `Delete the connection ${safeLine(name)} with its credentials?`);
      const lodge = await run.lodge();
      const deleted = await lodge.connections.delete(id, name, run.call);
      run.out.result(deleted, () => `Deleted ${safeLine(name)}.\n`);
    }),
  );
}

const connectionFields = (out: Output, connection: Connection): string =>
  out.fields([
    ['name', cell(connection.name)],
    ['kind', cell(connection.kind)],
    ['address', cell(connection.url)],
    ['consent', cell(connection.oauth?.status)],
    ['reason', cell(connection.status_reason)],
    ['enabled', yesNo(connection.enabled)],
    [
      'headers',
      Object.entries(connection.headers)
        .map(([name, { last4 }]) => safeLine(`${name} (...${last4})`))
        .join(', ') || null,
    ],
    [
      'allows',
      cell(connection.allow.map(({ methods, paths }) => `${methods.join(',')} ${paths.join(' ')}`).join('; ')),
    ],
    ['tools', cell(connection.kind === 'mcp' ? (connection.tools?.join(', ') ?? 'all') : null)],
    ['for the agent', cell(connection.guest_path)],
  ]);
