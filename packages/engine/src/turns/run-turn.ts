/**
 * Somebody says something to an agent, or to a member of it. This is the only way, for every caller.
 *
 * A turn wakes its agent and keeps it awake, lets the agent's runtime answer, and ends: with its answer, with a refusal (a
 * spend limit, a loop, a failure of the runtime), when its caller goes away, or when its time is over. At every end it is
 * cancelled in the guest, the guest's disk is written out, and the keep-awake lease ends. A process that dies leaves a lease
 * that runs out by itself.
 */
import type { Json } from '@lodge/domain';
import { Refusal } from '@lodge/domain';
import { GatewayFailure } from '@lodge/ports';
import type { ChatEndpoint, Gateway, GatewayAnswer, TurnApi } from '@lodge/ports';
import type { Agents, AskedTurn, LiveAgent, TurnPlace } from '../agents/agents.ts';
import { TurnAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { bounded } from './bounded.ts';
import { hasPictures } from './pictures.ts';
import { TurnWaits } from './waits.ts';
import { withNote } from './turn-note.ts';

/** The origin of a turn. */
export type TurnOrigin = 'api' | 'channel' | 'schedule' | 'hook' | 'agent' | 'confirmation';

export interface TurnRequest {
  readonly agentId: string;
  readonly accountId: string;
  /** Null: the agent itself. */
  readonly member: string | null;
  /** Any text that names the conversation. Null: the turn stands alone. */
  readonly conversation: string | null;
  readonly origin: TurnOrigin;
  /** With the origin `agent`: the asker and the payer. */
  readonly asked?: AskedTurn;
  readonly said: Said;
  /** Whether the events of a chat tell the steps of the agent's tools. */
  readonly steps?: boolean;
  /** Whether a stopped agent is started too. */
  readonly wake: boolean;
  /** Bound on the wait until the agent is awake. */
  readonly wakeTimeoutMs: number;
  /** Bound on the whole turn. */
  readonly timeoutMs: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A request of one of OpenAI's APIs; the runtime's `model` takes the place of the request's. */
export interface Said {
  readonly api: TurnApi;
  readonly body: Json;
  /** The same with pictures, for a guest that passes them to the model. */
  readonly pictured?: Json;
}

/** A text, and the text that replaces it where the model sees pictures. */
export interface Pictured {
  readonly text: string;
  readonly pictures: readonly { readonly type: string; readonly base64: string }[];
}

/** Makes a request of a text, like a person's message. */
export const message = (text: string, pictured: Pictured | null = null): Said => ({
  api: 'chat/completions',
  body: chat(text),
  ...(pictured && { pictured: chat(contentOf(pictured)) }),
});

const chat = (content: string | readonly Json[]): Json => ({ messages: [{ role: 'user', content }], stream: true });

const contentOf = ({ text, pictures }: Pictured): readonly Json[] => [
  { type: 'text', text },
  ...pictures.map(({ type, base64 }) => ({ type: 'image_url', image_url: { url: `data:${type};base64,${base64}` } })),
];

/** Resolves once the agent is awake and the turn is on its way to it. Rejects with a `Refusal`. */
export type RunTurn = (request: TurnRequest) => Promise<Answer>;

export interface RunTurnDeps {
  readonly agents: Pick<Agents, 'get' | 'use' | 'turn'>;
  readonly gateway: Gateway;
  /** Calls that wait for a decision; without them none does. */
  readonly waits?: TurnWaits;
  /** Called when a turn begins; returns a function to call when it has ended. */
  readonly onTurn?: (origin: TurnOrigin) => () => void;
}

export function createRunTurn(deps: RunTurnDeps): RunTurn {
  const { waits = new TurnWaits() } = deps;
  return async (asked) => {
    const { agentId } = asked;
    if (asked.member !== null) await checkMember(deps, asked);
    const { signal, end } = bounded(asked.signal, asked.timeoutMs);
    try {
      const live = await liveAgent(deps, asked, signal);
      const note = await live.note.take();
      // The agent's account was checked by then: only that account may know what becomes of its turns.
      const turn = deps.agents.turn(agentId, signal, asked.asked, placeOf(asked));
      const request = requestOf(asked, live, note);
      const gatewayAnswer = open(deps, asked, live, request, turn.signal);
      const streams = request.body['stream'] === true;
      const { withPictures } = request;
      const watch = waits.watch(agentId, asked.conversation, signal);
      return new TurnAnswer({ gatewayAnswer, streams, withPictures, turn, waits: watch, flush: live.flush, end });
    } catch (error) {
      end();
      throw error;
    }
  };
}

/** A turn that stands alone has no place. */
const placeOf = ({ conversation, member }: TurnRequest): TurnPlace | null =>
  conversation === null ? null : { conversation, member };

async function checkMember({ agents }: RunTurnDeps, { accountId, agentId, member }: TurnRequest): Promise<void> {
  const { members } = await agents.get(accountId, agentId);
  if (members.some(({ name }) => name === member)) return;
  throw new Refusal('member_not_found', 'The agent has no such member.');
}

/** The agent, running and kept awake until `signal` aborts, which it does at the end of every turn. */
async function liveAgent({ agents, onTurn }: RunTurnDeps, asked: TurnRequest, signal: AbortSignal): Promise<LiveAgent> {
  const { accountId, agentId, wake, wakeTimeoutMs: timeoutMs } = asked;
  const live = await agents.use(accountId, agentId, { wake, message: true, timeoutMs, signal });
  const ended = onTurn?.(asked.origin);
  const release = (): void => {
    live.release();
    ended?.();
  };
  if (!signal.aborted) signal.addEventListener('abort', release, { once: true });
  else {
    release();
    throw signal.reason;
  }
  return live;
}

interface Request {
  readonly endpoint: ChatEndpoint;
  readonly body: Json;
  readonly withPictures: boolean;
  readonly note: string | null;
}

function requestOf({ member, conversation, said }: TurnRequest, live: LiveAgent, note: string | null): Request {
  const { pictured = null } = said;
  const endpoint = live.endpoint({ member, conversation, pictures: pictured !== null || hasPictures(said.body) });
  const withPictures = pictured !== null && endpoint.takesPictures;
  const body = { ...(withPictures ? pictured : said.body), model: endpoint.model };
  return { endpoint, withPictures, note, body: note === null ? body : withNote(body, note) };
}

async function open(
  { agents, gateway }: RunTurnDeps,
  { agentId, accountId, said, steps = false }: TurnRequest,
  live: LiveAgent,
  { endpoint, body, note }: Request,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  try {
    const toolStep = steps ? live.toolStep : undefined;
    return await gateway.open({ endpoint, api: said.api, body, explain: live.turnFailure, toolStep, signal });
  } catch (error) {
    if (signal.aborted || !isOfConnection(error)) throw error;
    if (note !== null) await live.note.putBack(note);
    // The VM may have ended a moment ago.
    if ((await agents.get(accountId, agentId)).status === 'running') throw error;
    throw new Refusal('agent_not_running', 'Agent is not running. Start it first.', { agentId });
  }
}

const isOfConnection = (error: unknown): boolean =>
  error instanceof GatewayFailure && (error.facts.kind === 'not_connected' || error.facts.kind === 'broken_off');
