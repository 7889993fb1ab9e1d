/** A conversation at the terminal: a line, an answer, the next line. Ctrl-C stops a turn, and twice it ends. */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes, failureLines, failureOf } from '../failure.ts';
import type { Run } from '../run.ts';
import { safeLine } from '../terminal/safe.ts';
import { newConversation } from './conversation.ts';
import { takeTurn } from './turn.ts';
import type { Talk } from './turn.ts';

/** Lines that come within this time of each other were pasted, and are one message. */
const pasteMs = 25;
const maxHistory = 200;

const help = `  /new    begin a new conversation
  /help   show this
  /exit   end; Ctrl-D does the same
  @file   bring a file into the agent's workspace
  \\       at the end of a line: the message goes on in the next
  Ctrl-C  stop the turn; twice: end`;

type Line = { readonly text: string } | 'interrupted' | 'ended';

export async function converse(run: Run, begun: Talk): Promise<void> {
  const { out } = run;
  const history: string[] = [];
  let talk = begun;
  let wasInterrupted = false;
  out.note(
    out.paintError('dim', `${safeLine(talk.member ?? talk.agent.name, 60)} listens. /help shows what you can type.`),
  );
  for (;;) {
    const line = await readMessage(run, history);
    if (line === 'interrupted' && (wasInterrupted || run.signal.aborted)) process.exitCode = exitCodes.interrupted;
    if (line === 'ended' || process.exitCode !== undefined) break;
    wasInterrupted = line === 'interrupted';
    if (line === 'interrupted') {
      out.note(out.paintError('dim', 'Ctrl-C again ends.'));
      continue;
    }
    const text = line.text.trim();
    if (text === '') continue;
    if (text === '/exit' || text === '/quit') break;
    if (text === '/help') out.note(help);
    else if (text === '/new') {
      talk = { ...talk, conversation: newConversation() };
      out.note(out.paintError('dim', 'A new conversation begins.'));
    } else if ((await turn(run, talk, text)) === 'end') break;
  }
  const { agent, member, conversation } = talk;
  const with_ = member === undefined ? '' : ` --member ${safeLine(member)}`;
  out.note(
    out.paintError(
      'dim',
      `Go on later: lodge chat ${safeLine(agent.id)}${with_} --conversation ${safeLine(conversation ?? '')}`,
    ),
  );
}

/** Runs one turn. A first Ctrl-C stops it, a second one ends the conversation. */
async function turn(run: Run, talk: Talk, text: string): Promise<'on' | 'end'> {
  const { out } = run;
  const stop = new AbortController();
  let isEnd = false;
  const onInterrupt = (): void => {
    if (stop.signal.aborted) isEnd = true;
    stop.abort();
  };
  try {
    await run.interrupts.during(onInterrupt, () =>
      takeTurn(run, talk, text, AbortSignal.any([stop.signal, run.signal])),
    );
    out.write('\n');
  } catch (error) {
    if (stop.signal.aborted) {
      out.note('Stopped.');
      return isEnd ? 'end' : 'on';
    }
    const failure = failureOf(error, run.circumstances);
    if (failure.exitCode === exitCodes.denied || failure.exitCode === exitCodes.interrupted) throw error;
    for (const line of failureLines(failure)) out.note(line);
  }
  return isEnd ? 'end' : 'on';
}

async function readMessage(run: Run, history: string[]): Promise<Line> {
  let text = '';
  for (;;) {
    const line = await readLines(run, text === '' ? '> ' : '. ', history);
    if (typeof line === 'string') return line;
    text += line.text;
    if (!text.endsWith('\\')) return { text };
    text = `${text.slice(0, -1)}\n`;
  }
}

/** Reads one line, or several that were pasted. */
async function readLines(run: Run, prompt: string, history: string[]): Promise<Line> {
  if (run.signal.aborted) return 'interrupted';
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    history: [...history],
    historySize: maxHistory,
    prompt,
  });
  try {
    return await new Promise<Line>((resolve) => {
      const read: string[] = [];
      lines.on('line', (line) => {
        read.push(line);
        if (read.length > 1) return;
        void sleep(pasteMs).then(() => {
          const text = read.join('\n');
          if (text.trim() !== '') history.unshift(read[0]!);
          resolve({ text });
        });
      });
      lines.on('SIGINT', () => {
        run.out.write('\n');
        resolve('interrupted');
      });
      lines.on('close', () => resolve('ended'));
      run.signal.addEventListener('abort', () => resolve('interrupted'), { once: true });
      lines.prompt();
    });
  } finally {
    lines.close();
  }
}
