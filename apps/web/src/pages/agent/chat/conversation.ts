/** A conversation with an agent, as this browser keeps it. The agent remembers it by its id; the API has no transcript. */

export interface Conversation {
  /** The name by which the agent knows it: `user` of a chat. */
  readonly id: string;
  /** The person's name for it; else the beginning of the first message. */
  readonly name: string;
  /** When something was last said. */
  readonly at: string;
}

/** A file that was put into the workspace. */
export interface SentFile {
  /** Its path in the workspace. */
  readonly path: string;
  readonly name: string;
}

export interface Step {
  readonly id: string;
  readonly tool: string;
  readonly title: string | undefined;
  readonly status: 'started' | 'completed' | 'failed';
}

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'steps'; readonly steps: readonly Step[] };

/**
 * `waking`: nothing has come yet, and the agent slept. `cut`: the connection or the page ended in the midst of the answer.
 * `stopped`: the person ended it.
 */
export type TurnState = 'waking' | 'working' | 'done' | 'stopped' | 'cut' | 'failed';

export interface Problem {
  readonly words: string;
  readonly code: string;
  readonly requestId: string | undefined;
}

/** The model calls of an agent while a turn ran. */
export interface TurnCost {
  readonly calls: number;
  /** More calls than were counted. */
  readonly more: boolean;
  readonly tokens: number;
  /** Decimal US dollars; null when no call had a known price. */
  readonly usd: number | null;
  readonly estimated: boolean;
}

export interface Turn {
  readonly id: string;
  readonly at: string;
  readonly said: string;
  readonly files: readonly SentFile[];
  /** The member that was asked; null: the agent itself. */
  readonly member: string | null;
  readonly parts: readonly Part[];
  readonly state: TurnState;
  readonly problem?: Problem;
  /** Characters of the answer that were too many to keep. */
  readonly left?: number;
  readonly tookMs?: number;
  readonly cost?: TurnCost;
}

export const isRunning = ({ state }: Turn): boolean => state === 'waking' || state === 'working';

export const textOf = ({ parts }: Pick<Turn, 'parts'>): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');

const maxAnswerChars = 300_000;
const maxSteps = 1000;
const maxWords = 160;

const short = (words: unknown): string | undefined =>
  typeof words === 'string' && words !== '' ? words.slice(0, maxWords) : undefined;

/** Adds words of the answer. */
export function withText(turn: Turn, text: string): Turn {
  const room = maxAnswerChars - textOf(turn).length;
  const taken = text.slice(0, Math.max(0, room));
  const left = (turn.left ?? 0) + text.length - taken.length;
  const last = turn.parts.at(-1);
  const parts =
    last?.kind === 'text'
      ? [...turn.parts.slice(0, -1), { kind: 'text' as const, text: last.text + taken }]
      : [...turn.parts, { kind: 'text' as const, text: taken }];
  return { ...turn, parts: taken === '' ? turn.parts : parts, ...(left > 0 && { left }) };
}

/** Adds the beginning of a step, or its end. */
export function withStep(turn: Turn, given: unknown): Turn {
  const { id, tool, status, title } = (given ?? {}) as Partial<Record<keyof Step, unknown>>;
  const step: Step = {
    id: short(id) ?? '',
    tool: short(tool) ?? 'tool',
    title: short(title),
    status: status === 'completed' || status === 'failed' ? status : 'started',
  };
  const isStep = (one: Step): boolean => one.id === step.id;
  const known = turn.parts.findIndex((part) => part.kind === 'steps' && part.steps.some(isStep));
  if (known !== -1) {
    const merge = (one: Step): Step => (isStep(one) ? { ...step, title: step.title ?? one.title } : one);
    const parts = turn.parts.map((part, at) =>
      at === known && part.kind === 'steps' ? { ...part, steps: part.steps.map(merge) } : part,
    );
    return { ...turn, parts };
  }
  const count = turn.parts.reduce((sum, part) => sum + (part.kind === 'steps' ? part.steps.length : 0), 0);
  if (count >= maxSteps) return turn;
  const last = turn.parts.at(-1);
  if (last?.kind === 'steps') {
    return { ...turn, parts: [...turn.parts.slice(0, -1), { ...last, steps: [...last.steps, step] }] };
  }
  return { ...turn, parts: [...turn.parts, { kind: 'steps', steps: [step] }] };
}

const maxNameChars = 60;

/** Names a conversation by what was said first. */
export function nameOf(said: string): string {
  const line = said.replaceAll(/\s+/g, ' ').trim().slice(0, 400);
  return line.length > maxNameChars ? `${line.slice(0, maxNameChars - 1).trimEnd()}…` : line || 'Files';
}

export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, '0')).join('');

export const newConversationId = (): string => `web-${newId()}`;
