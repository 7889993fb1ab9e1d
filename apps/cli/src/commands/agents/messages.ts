/** `lodge messages`: what came on an agent's channels, and what became of it. */
import type { ChannelMessage } from '@lodge/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { channelNames } from '../../words.ts';
import type { Name } from '../../channels/settings.ts';
import { examples } from '../../examples.ts';
import { limitOption, pageOf, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On } from '../../run.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago } from '../../terminal/words.ts';
import { given } from '../../values.ts';

interface MessageOptions extends ListOptions {
  readonly channel?: Name;
  readonly state?: ChannelMessage['state'];
  readonly content?: true;
}

export default function messages(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .addOption(new Option('--channel <channel>', 'only those of this platform').choices(channelNames))
    .addOption(
      new Option('--state <state>', 'only those').choices(['received', 'answered', 'failed', 'unknown', 'refused']),
    )
    .option('--content', 'show what was written, and the answer')
    .addOption(limitOption())
    .description('List messages, newest first.');
  examples(
    list,
    ['lodge messages list ada --state failed', 'show what was not answered'],
    ['lodge messages list ada --content --json', 'print messages with their texts'],
  ).action(
    on(async (run, { channel, state, content, limit }: MessageOptions, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const query = { limit: pageOf(limit), ...given({ channel, state }), ...(content && { content: true }) };
      await showList<ChannelMessage>(
        run,
        lodge.messages.list(id, query, run.call),
        limit,
        [
          { title: 'id', value: (each) => each.id, keep: true },
          { title: 'channel', value: (each) => each.channel },
          { title: 'conversation', value: (each) => each.conversation.id },
          { title: 'from', value: ({ sender }) => sender.name },
          { title: 'state', value: (each) => each.state },
          { title: 'received', value: ({ received_at }) => ago(received_at), align: 'right' },
          { title: content ? 'text' : 'reason', value: ({ text, reason }) => (content ? text : reason) },
        ],
        'No messages have come.',
      );
    }),
  );
  const retry = command
    .command('retry')
    .argument(...agentArgument)
    .argument('<message>', "the message's id")
    .description('Have a message answered again that failed.');
  examples(retry, ['lodge messages retry ada 01J8Z6', 'answer it again']).action(
    on(async (run, _options: object, agent: string, message: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const found = await lodge.messages.retry(id, message, {}, run.call);
      run.out.result(found, () => `The message is ${safeLine(found.state)}.\n`);
    }),
  );
}
