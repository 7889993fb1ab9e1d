import type { ToolStep } from '@lodge/sdk';
import * as z from 'zod';
import { agentId } from '../inputs.ts';
import { cutText, maxResultBytes } from '../text.ts';
import { theirs, tool } from '../tool.ts';
import type { Tool } from '../tool.ts';

const maxMessageChars = 200_000;

const note = theirs('This is the answer of the agent, in its own words.');

const askAgent = tool({
  name: 'ask_agent',
  title: 'Ask an agent',
  description:
    'Sends a message to an agent and returns its answer. The agent works with tools of its own in its own machine, so an answer may take minutes: progress is reported, and cancelling the call ends the work. The agent knows nothing of this conversation: say everything it needs. Name a conversation to go on with it later; without one the message stands alone. A paused agent wakes by itself.',
  scopes: ['agents:write', 'agents:chat'],
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  doing: 'The agent works',
  input: z.strictObject({
    agent_id: agentId,
    message: z.string().min(1).max(maxMessageChars).describe('What the agent is told.'),
    conversation: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Names a conversation that the agent remembers; the same name goes on with it.'),
    member: z
      .string()
      .min(2)
      .max(32)
      .regex(/^[a-z][a-z0-9-]*$/)
      .optional()
      .describe('Name of a member: a further agent in the same machine.'),
    wake: z.boolean().default(false).describe('Start the agent first if it is stopped.'),
  }),
  output: z.object({
    note: z.string(),
    agent_id: z.string(),
    conversation: z.string().nullable(),
    answer: z.string(),
    answer_bytes: z.number().describe('Size of the whole answer.'),
    is_cut: z.boolean().describe('The answer is longer; ask the agent to write it to a file, and use read_file.'),
    seconds: z.number(),
  }),
  run: async ({ agent_id, message, conversation, member, wake }, { lodge, signal, say }) => {
    const from = performance.now();
    const body = {
      messages: [{ role: 'user', content: message }],
      stream_options: { include_steps: true },
      ...(conversation !== undefined && { user: conversation }),
      ...(member !== undefined && { model: `${agent_id}/${member}` }),
    };
    const whole = new Answer();
    for await (const chunk of lodge.chat.stream(agent_id, body, { signal, ...(wake && { wake }) })) {
      const text = contentOf(chunk);
      whole.add(text);
      if (text !== '') say('The agent writes its answer');
      if (chunk.step?.status === 'started') say(wordsOf(chunk.step));
    }
    // A stream of a client that is gone may end instead of failing.
    signal.throwIfAborted();
    const { text, bytes, isCut } = whole.cut();
    const structured = {
      note,
      agent_id,
      conversation: conversation ?? null,
      answer: text,
      answer_bytes: bytes,
      is_cut: isCut,
      seconds: Math.round((performance.now() - from) / 100) / 10,
    };
    const end = isCut ? [`[The answer has ${bytes} bytes and was cut here. Ask the agent to write it to a file.]`] : [];
    return { texts: [note, text === '' ? '[The answer is empty.]' : text, ...end], structured };
  },
});

/** The use of a tool in words: the names of the runtime, which are short lines. */
const wordsOf = ({ tool: name, title }: ToolStep): string =>
  `The agent uses ${name}${title === undefined ? '' : `: ${title}`}`;

/** The beginning of an answer, and the size of the whole. */
class Answer {
  #text = '';
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(more: string): void {
    this.#bytes += new TextEncoder().encode(more).length;
    // Text beyond the bound is only counted.
    if (this.#text.length <= maxResultBytes) this.#text += more;
  }

  cut(): { readonly text: string; readonly bytes: number; readonly isCut: boolean } {
    const { text, isCut } = cutText(this.#text, maxResultBytes);
    return { text, bytes: this.#bytes, isCut };
  }
}

/** The text of a chunk, whose shape is the runtime's. */
function contentOf(chunk: { readonly choices: readonly unknown[] }): string {
  const [choice] = chunk.choices as readonly { readonly delta?: { readonly content?: unknown } }[];
  const content = choice?.delta?.content;
  return typeof content === 'string' ? content : '';
}

export const askTools: readonly Tool[] = [askAgent];
