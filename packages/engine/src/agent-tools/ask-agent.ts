/**
 * One agent asks another one of its account. Only the host knows who asked for a turn; a guest is never believed about it. A
 * question is part of a turn of the agent that asks, so every chain of questions has an end. When an agent has several turns
 * at once, nobody can know which one asks: everybody who led to any of them counts as part of the chain.
 */
import {
  Refusal,
  agentIdPattern,
  allPeers,
  chainTrouble,
  hostMessage,
  mayAsk,
  reachedLimits,
  reachedWords,
} from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import type { AskedTurn } from '../agents/agents.ts';
import { withinBounds } from '../channels/answering/say.ts';
import { message } from '../turns/run-turn.ts';
import { defaultToolBounds } from './deps.ts';
import type { AgentToolsDeps, Tool } from './deps.ts';
import type { ToolGuest } from './tool-guest.ts';

/** Agents beyond these are not listed. */
const maxListed = 100;

export const agentsList: Tool<'agents_list'> = async (deps, { guest }) => {
  const { peers } = await deps.agents.get(guest.accountId, guest.agentId);
  const rows = peers.includes(allPeers) ? await all(deps, guest) : await named(deps, guest, peers);
  return {
    agents: rows.map(({ id, name, description, status }) => ({ id, name, description, status })),
    ...(rows.length === 0 && { note: 'Your owner allowed you no other agent (peers).' }),
  };
};

async function all({ agents }: AgentToolsDeps, { accountId, agentId }: ToolGuest): Promise<readonly AgentRow[]> {
  const { rows } = await agents.list({ accountId, limit: maxListed + 1, order: 'asc' });
  return rows.filter(({ id }) => id !== agentId).slice(0, maxListed);
}

async function named(
  { agents }: AgentToolsDeps,
  { accountId }: ToolGuest,
  peers: readonly string[],
): Promise<readonly AgentRow[]> {
  const rows: AgentRow[] = [];
  for (const id of peers) {
    const row = await found(agents.get(accountId, id));
    if (row !== null) rows.push(row);
  }
  return rows;
}

/** Returns null when the agent is gone. */
async function found(row: Promise<AgentRow>): Promise<AgentRow | null> {
  try {
    return await row;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'agent_not_found') return null;
    throw error;
  }
}

export const askAgent: Tool<'ask_agent'> = async (deps, { guest, args, signal }) => {
  const { accountId, agentId } = guest;
  const asker = await deps.agents.get(accountId, agentId);
  const isKnown = agentIdPattern.test(args.agent) && args.agent !== agentId && mayAsk(asker.peers, args.agent);
  const peer = isKnown ? await found(deps.agents.get(accountId, args.agent)) : null;
  if (peer === null) throw refused('agent is none that you may ask; agents_list has those.');
  const asked = await askedTurn(deps, guest, peer.id);
  const { askMs: timeoutMs, wakeMs: wakeTimeoutMs } = { ...defaultToolBounds, ...deps.bounds };
  const answer = await deps.runTurn({
    agentId: peer.id,
    accountId,
    member: null,
    conversation: `agent:${agentId}`,
    origin: 'agent',
    asked,
    said: message(questionOf(asker, args.message)),
    wake: false,
    wakeTimeoutMs,
    timeoutMs,
    signal,
  });
  return { agent: peer.id, answer: withinBounds(await answer.text()) };
};

/**
 * Returns the origin of the turn that the question makes. Refuses where a chain would not end, or the payer has spent all.
 */
async function askedTurn(deps: AgentToolsDeps, { agentId }: ToolGuest, peerId: string): Promise<AskedTurn> {
  const underWay = deps.askedTurns(agentId);
  if (underWay.length === 0) throw refused('ask_agent works only while you answer somebody.');
  const askers = [...new Set([...underWay.flatMap((turn) => turn.askers), agentId])];
  const depth = Math.max(...underWay.map((turn) => turn.depth)) + 1;
  const trouble = chainTrouble({ askers, depth }, peerId);
  if (trouble !== null) throw refused(trouble);
  const payers = new Set(underWay.map((turn) => turn.payerId));
  const payerId = payers.size === 1 ? [...payers][0]! : agentId;
  const now = new Date();
  const { limits } = await deps.spend.ofAgent(payerId, now);
  const reached = reachedLimits(limits);
  if (reached.length > 0) throw new Refusal('spend_limit_exceeded', reachedWords(reached, now).message);
  return { askers, depth, payerId, limited: limits.length > 0 };
}

/** Puts a question together; the host says in a line of its own who asks. */
const questionOf = ({ id, name }: AgentRow, text: string): string =>
  hostMessage('agent message', { from_agent: id, agent_name: name.slice(0, 100).toWellFormed() }, text);

const refused = (message: string): Refusal => new Refusal('invalid_request', message);
