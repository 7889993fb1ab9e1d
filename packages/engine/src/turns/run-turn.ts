/**
 * Somebody says something to an agent, or to a member of it: the one way, whoever asks.
 *
 * A turn wakes its agent and keeps it awake, has the agent's runtime answer, and ends: with its answer, with a refusal (a spend
 * limit, a loop, a failure of the runtime), when its asker goes away, or when its time is over. However it ends, it is cancelled
 * in the guest, the guest's disk is written out, and the keep-awake lease is given back. A process that dies leaves a lease that
 * runs out by itself.
 */
import type { Json } from '@lodge/domain';
import { Refusal } from '@lodge/domain';
import { GatewayFailure } from '@lodge/ports';
import type { Gateway, GatewayAnswer, TurnApi } from '@lodge/ports';
import type { Agents, LiveAgent } from '../agents/agents.ts';
import { TurnAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { bounded } from './bounded.ts';

/** Who makes an agent take a turn. */
export type TurnOrigin = 'api' | 'channel' | 'schedule' | 'agent';

export interface TurnRequest {
  readonly agentId: string;
  readonly accountId: string;
  /** Null: the agent itself. */
  readonly member: string | null;
  /** What names the conversation, any text. Null: the turn stands alone. */
  readonly conversation: string | null;
  readonly origin: TurnOrigin;
  readonly said: Said;
  /** A stopped agent is started too. */
  readonly wake: boolean;
  /** How long the agent may take to wake. */
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
}

/** Says a text, as a person would. */
export const message = (text: string): Said => ({
  api: 'chat/completions',
  body: { messages: [{ role: 'user', content: text }], stream: true },
});

/** Resolves once the agent is awake and the turn is on its way to it. Rejects with a `Refusal`. */
export type RunTurn = (request: TurnRequest) => Promise<Answer>;

export interface RunTurnDeps {
  readonly agents: Pick<Agents, 'get' | 'use' | 'turn'>;
  readonly gateway: Gateway;
  /** Told when a turn begins; gives what to call when it has ended. */
  readonly onTurn?: (origin: TurnOrigin) => () => void;
}

export function createRunTurn(deps: RunTurnDeps): RunTurn {
  return async (asked) => {
    const { agentId } = asked;
    if (asked.member !== null) await checkMember(deps, asked);
    const { signal, end } = bounded(asked.signal, asked.timeoutMs);
    try {
      const live = await liveAgent(deps, asked, signal);
      // Whose agent it is was checked by then: what becomes of its turns is nobody else's to know.
      const turn = deps.agents.turn(agentId, signal);
      const gatewayAnswer = open(deps, asked, live, turn.signal);
      const streams = asked.said.body['stream'] === true;
      return new TurnAnswer({ gatewayAnswer, streams, turn, flush: live.flush, end });
    } catch (error) {
      end();
      throw error;
    }
  };
}

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

async function open(
  { agents, gateway }: RunTurnDeps,
  { agentId, accountId, member, conversation, said }: TurnRequest,
  live: LiveAgent,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const endpoint = live.endpoint({ member, conversation });
  const body = { ...said.body, model: endpoint.model };
  try {
    return await gateway.open({ endpoint, api: said.api, body, explain: live.turnFailure, signal });
  } catch (error) {
    if (signal.aborted || !isOfConnection(error)) throw error;
    // The VM may have ended a moment ago.
    if ((await agents.get(accountId, agentId)).status === 'running') throw error;
    throw new Refusal('agent_not_running', 'Agent is not running. Start it first.', { agentId });
  }
}

const isOfConnection = (error: unknown): boolean =>
  error instanceof GatewayFailure && (error.facts.kind === 'not_connected' || error.facts.kind === 'broken_off');
