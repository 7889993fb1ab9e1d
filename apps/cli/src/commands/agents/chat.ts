/** `lodge chat`: a conversation at the terminal, or one message and its answer. */
import type { Command } from 'commander';
import { agentOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { newConversation } from '../../chat/conversation.ts';
import { takeTurn } from '../../chat/turn.ts';
import type { Talk } from '../../chat/turn.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import type { On, Run } from '../../run.ts';
import { readStdin } from '../../terminal/prompt.ts';

interface ChatOptions {
  readonly message?: string;
  readonly stdin?: true;
  readonly conversation?: string;
  readonly member?: string;
  readonly wake?: true;
  readonly steps?: boolean;
}

export default function chat(command: Command, on: On): void {
  command
    .argument(...agentArgument)
    .option('-m, --message <text>', 'send this message, print the answer, and end; - for stdin')
    .option('--stdin', 'add what stdin gives to the message')
    .option('-c, --conversation <name>', 'a conversation that the agent remembers')
    .option('--member <name>', 'speak to a member of the agent')
    .option('--wake', 'start the agent if it is stopped')
    .option('--steps', 'tell what tools the agent uses, in a pipe and with --json too: a line for each')
    .option('--no-steps', 'do not tell it');
  examples(
    command,
    ['lodge chat ada', 'begin a conversation'],
    ['lodge chat ada -m "What is in your workspace?"', 'ask one question'],
    ['lodge chat ada --stdin -m "Find the error" < build.log', 'ask about what a file holds'],
    ['lodge chat ada -c news -m "And today?" --json', 'go on with a conversation, and print JSON'],
    ['lodge chat ada -m "Summarize @report.pdf"', "bring a file into the agent's workspace"],
  ).action(on(talk));
}

async function talk(run: Run, options: ChatOptions, meant: string): Promise<void> {
  const { conversation, member, wake, steps } = options;
  const isOneShot = options.message !== undefined || options.stdin === true || !process.stdin.isTTY;
  const message = isOneShot ? await messageOf(run, options) : undefined;
  if (message === undefined && run.out.isJson)
    throw usageError('--json goes with a message.', 'Give one: -m TEXT, or stdin.');
  const agent = await agentOf(run, meant);
  const begun: Talk = { agent, member, conversation, wake: wake === true, steps };
  if (message === undefined) {
    const { converse } = await import('../../chat/interactive.ts');
    return converse(run, { ...begun, conversation: conversation ?? newConversation() });
  }
  const { text, finishReason } = await takeTurn(run, begun, message, run.signal);
  if (!run.out.isJson) return;
  const answer = { agent_id: agent.id, member: member ?? null, conversation: conversation ?? null };
  const value = { ...answer, content: text, finish_reason: finishReason };
  if (steps === true) run.out.item(value, () => '');
  else run.out.result(value, () => '');
}

/** Returns the message of the option, of stdin, or of both. */
async function messageOf(run: Run, { message, stdin }: ChatOptions): Promise<string> {
  const isRead = message === undefined || message === '-' || stdin === true;
  const read = isRead ? (await readStdin(run.signal)).trim() : '';
  const parts = [message === '-' ? undefined : message?.trim(), read].filter(
    (part) => part !== undefined && part !== '',
  );
  if (parts.length === 0) throw usageError('The message is empty.', 'Give one: -m TEXT, or stdin.');
  return parts.join('\n\n');
}
