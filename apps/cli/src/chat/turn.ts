/** One turn: a message to an agent, and its answer as it comes. */
import type { Agent } from '@lodge/sdk';
import type { Run } from '../run.ts';
import { beginProgress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe.ts';
import { LiveAnswer } from './live.ts';
import { withUploads } from './mentions.ts';

export interface Talk {
  readonly agent: Agent;
  /** The conversation that the agent remembers; undefined where each message stands alone. */
  readonly conversation: string | undefined;
  readonly member: string | undefined;
  /** A stopped agent is started first. */
  readonly wake: boolean;
}

export interface Answer {
  readonly text: string;
  readonly finishReason: string | null;
}

/** The fields of a chunk that are read. They come from an agent's runtime. */
interface Choice {
  readonly delta?: { readonly content?: unknown; readonly tool_calls?: unknown };
  readonly finish_reason?: unknown;
}

const maxToolChars = 200;

/** Sends the message, and shows the answer unless the result is JSON. The signal ends the turn at the agent too. */
export async function takeTurn(run: Run, talk: Talk, message: string, signal: AbortSignal): Promise<Answer> {
  const { agent, conversation, member, wake } = talk;
  const content = await withUploads(run, agent.id, message);
  const lodge = await run.lodge();
  const body = {
    messages: [{ role: 'user', content }],
    ...(conversation !== undefined && { user: conversation }),
    ...(member !== undefined && { model: `${agent.id}/${member}` }),
  };
  const progress = beginProgress(run.out, `${safeLine(member ?? agent.name, 60)} is working`);
  const shown = new LiveAnswer(run.out);
  let text = '';
  let finishReason: string | null = null;
  try {
    const options = { signal, ...(wake && { query: { wake: true } }) };
    for await (const chunk of lodge.chat.stream(agent.id, body, options)) {
      const { delta, finish_reason: reason } = (chunk.choices[0] ?? {}) as Choice;
      for (const step of toolSteps(delta?.tool_calls)) progress.say(step);
      if (typeof reason === 'string') finishReason = reason;
      if (typeof delta?.content !== 'string' || delta.content === '') continue;
      progress.end();
      text += delta.content;
      if (!run.out.isJson) shown.push(delta.content);
    }
  } finally {
    progress.end();
    if (text !== '' && !run.out.isJson) shown.end();
  }
  return { text, finishReason };
}

/** Returns a line for each tool that a chunk names. */
function toolSteps(calls: unknown): string[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap(
    (call: { readonly function?: { readonly name?: unknown; readonly arguments?: unknown } } | null) => {
      const { name, arguments: given } = call?.function ?? {};
      if (typeof name !== 'string' || name === '') return [];
      return [safeLine(typeof given === 'string' && given !== '' ? `${name}: ${given}` : name, maxToolChars)];
    },
  );
}
