/** One turn: a message to an agent, and its answer as it comes. */
import type { Agent, ToolStep } from '@lodge/sdk';
import type { Run } from '../run.ts';
import { withUploads } from './mentions.ts';
import { ShownTurn } from './shown-turn.ts';

export interface Talk {
  readonly agent: Agent;
  /** The conversation that the agent remembers; undefined where each message stands alone. */
  readonly conversation: string | undefined;
  readonly member: string | undefined;
  /** A stopped agent is started first. */
  readonly wake: boolean;
  /** Whether the steps of the agent's tools are shown; undefined: to a person at a terminal. */
  readonly steps: boolean | undefined;
}

export interface Answer {
  readonly text: string;
  readonly finishReason: string | null;
}

/** The fields of a chunk that are read. They come from an agent's runtime. */
interface Choice {
  readonly delta?: { readonly content?: unknown };
  readonly finish_reason?: unknown;
}

/** Sends the message, and shows the answer unless the result is JSON. The signal ends the turn at the agent too. */
export async function takeTurn(run: Run, talk: Talk, message: string, signal: AbortSignal): Promise<Answer> {
  const { agent, conversation, member, wake, steps = run.out.isErrTty && !run.out.isJson } = talk;
  const content = await withUploads(run, agent.id, message);
  const lodge = await run.lodge();
  const body = {
    messages: [{ role: 'user', content }],
    ...(steps && { stream_options: { include_steps: true } }),
    ...(conversation !== undefined && { user: conversation }),
    ...(member !== undefined && { model: `${agent.id}/${member}` }),
  };
  const shown = new ShownTurn(run.out, member ?? agent.name);
  let text = '';
  let finishReason: string | null = null;
  try {
    const options = { signal, ...(wake && { query: { wake: true } }) };
    for await (const chunk of lodge.chat.stream(agent.id, body, options)) {
      const { delta, finish_reason: reason } = (chunk.choices[0] ?? {}) as Choice;
      if (isStep(chunk.step)) shown.step(chunk.step);
      if (typeof reason === 'string') finishReason = reason;
      if (typeof delta?.content !== 'string' || delta.content === '') continue;
      text += delta.content;
      shown.push(delta.content);
    }
  } finally {
    shown.end();
  }
  return { text, finishReason };
}

const isStep = (step: Partial<ToolStep> | undefined): step is ToolStep =>
  typeof step?.tool === 'string' && typeof step.status === 'string';
