/** `lodge channels`: platforms of messages that an agent answers on. */
import type { Channel } from '@lodge/sdk';
import { Argument } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { defineApprovals } from '../../channels/approvals.ts';
import { pair } from '../../channels/pair.ts';
import { channelBody, withSettings } from '../../channels/settings.ts';
import { channelNames } from '../../words.ts';
import type { ChannelSettings, Name } from '../../channels/settings.ts';
import { channelFields, channelLine, testFields } from '../../channels/shown.ts';
import { examples } from '../../examples.ts';
import { CommandError, exitCodes } from '../../failure.ts';
import { showList } from '../../gathered.ts';
import type { On } from '../../run.ts';
import { openInBrowser, webAddress } from '../../terminal/browser.ts';
import { withProgress } from '../../terminal/progress.ts';
import { confirm } from '../../terminal/prompt.ts';
import { ago } from '../../terminal/words.ts';
import { given } from '../../values.ts';

const most = 100;
const channelArgument = (): Argument => new Argument('<channel>', 'the platform').choices(channelNames);

export default function channels(command: Command, on: On): void {
  defineReads(command, on);
  defineWrites(command, on);
  defineSignIns(command, on);
  defineApprovals(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .description('List the channels of an agent.');
  examples(list, ['lodge channels list ada', 'show where ada answers']).action(
    on(async (run, _options: object, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList<Channel>(
        run,
        lodge.channels.list(id, run.call),
        most,
        [
          { title: 'channel', value: ({ channel }) => channel, keep: true },
          { title: 'status', value: ({ status }) => status, keep: true },
          { title: 'speaks as', value: ({ identity }) => identity?.name },
          { title: 'last message', value: ({ last_inbound_at }) => ago(last_inbound_at), align: 'right' },
          { title: 'reason', value: ({ status_reason }) => status_reason?.message },
        ],
        'The agent has no channels.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...agentArgument)
    .addArgument(channelArgument())
    .description('Show one channel.');
  examples(show, ['lodge channels show ada slack', 'show its state and who may write']).action(
    on(async (run, _options: object, agent: string, channel: Name) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const found = await lodge.channels.get(id, channel, run.call);
      run.out.result(found, () => channelFields(run.out, found));
    }),
  );
}

function defineWrites(command: Command, on: On): void {
  const set = withSettings(
    command
      .command('set')
      .argument(...agentArgument)
      .addArgument(channelArgument())
      .description('Set a channel up, or change it. What is not given stays.'),
  );
  examples(
    set,
    ['lodge channels set ada telegram --bot-token', 'connect Telegram; the token is asked for'],
    ['lodge channels set ada slack --app-token env:SLACK_APP --bot-token env:SLACK_BOT', 'take tokens from variables'],
    ['lodge channels set ada discord --access allowlist --allow-from 80351110224678912', 'answer one person alone'],
  ).action(
    on(async (run, options: ChannelSettings, agent: string, channel: Name) => {
      const body = await channelBody(run, options);
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const put = await withProgress(run.out, 'Asking the platform', () =>
        lodge.channels.put(id, channel, body, run.call),
      );
      run.out.result(put, () => channelLine(put));
    }),
  );
  const restart = command
    .command('restart')
    .argument(...agentArgument)
    .addArgument(channelArgument())
    .description('Connect a channel anew.');
  examples(restart, ['lodge channels restart ada slack', 'connect it anew']).action(
    on(async (run, _options: object, agent: string, channel: Name) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const found = await lodge.channels.restart(id, channel, {}, run.call);
      run.out.result(found, () => channelLine(found));
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...agentArgument)
    .addArgument(channelArgument())
    .description('Remove a channel with its credentials.');
  examples(remove, ['lodge channels delete ada slack', 'remove it, after a question']).action(
    on(async (run, _options: object, agent: string, channel: Name) => {
      const id = await agentIdOf(run, agent);
      if (!run.isYes) await confirm(run, `Remove ${channel} with its credentials?`);
      const lodge = await run.lodge();
      const deleted = await lodge.channels.delete(id, channel, run.call);
      run.out.result(deleted, () => `Removed ${channel}.\n`);
    }),
  );
}

function defineSignIns(command: Command, on: On): void {
  const test = command
    .command('test')
    .argument(...agentArgument)
    .addArgument(channelArgument())
    .option('--conversation <id>', 'a conversation to which a message is sent')
    .description('Ask the platform whether all is well.');
  examples(test, ['lodge channels test ada slack', 'try its credentials']).action(
    on(async (run, options: { readonly conversation?: string }, agent: string, channel: Name) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const body = given({ conversation: options.conversation });
      const found = await withProgress(run.out, 'Asking the platform', () =>
        lodge.channels.test(id, channel, body, run.call),
      );
      run.out.result(found, () => testFields(run.out, found));
      if (!found.ok) throw new CommandError(exitCodes.failure, found.reason?.message ?? 'The channel is not well.');
    }),
  );
  const pairing = command
    .command('pair')
    .argument(...agentArgument)
    .option('--phone <number>', 'get a code to type in, for the phone of this number')
    .description('Pair WhatsApp with a phone, by a code to scan.');
  examples(pairing, ['lodge channels pair ada', 'draw the code here']).action(on(pair));
  const signIn = command
    .command('sign-in')
    .argument(...agentArgument)
    .option('--login-hint <address>', 'the address of the mailbox')
    .description('Connect Gmail, by a consent in the browser.');
  examples(signIn, ['lodge channels sign-in ada', "open Google's page"]).action(
    on(async (run, { loginHint }: { readonly loginHint?: string }, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const session = await lodge.channels.startGmailOAuth(id, given({ login_hint: loginHint }), run.call);
      const url = webAddress(session.authorization_url);
      if (run.out.isJson) return run.out.result(session, () => '');
      if (await openInBrowser(run.env, url)) return run.out.note('Opened the page of Google in the browser.');
      run.out.note('There is no browser here. Open this page in one:');
      run.out.write(`${url}\n`);
    }),
  );
}
