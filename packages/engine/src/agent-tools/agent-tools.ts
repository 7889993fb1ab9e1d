/** The tools that Lodge gives an agent, including those of further sources. */
import {
  Refusal,
  TokenBuckets,
  ownToolAct,
  ownTools,
  policyFor,
  readArguments,
  scheduleToolWords,
  schemaOf,
  toolRates,
  leftUsd,
  spendWindow,
} from '@lodge/domain';
import type { Json, OwnToolName, ToolFields } from '@lodge/domain';
import { textOfAnswer, toolConfirmed } from '@lodge/ports';
import type { MakeCall, OfferedTool, ToolAnswer, ToolCalled } from '@lodge/ports';
import { agentsList, askAgent } from './ask-agent.ts';
import { askOwner } from './ask-owner.ts';
import { channelsList } from './channels-list.ts';
import type { AgentToolsDeps, Tool } from './deps.ts';
import { callScheduleTool, scheduleTools } from './schedule-tools.ts';
import { sendFile, sendMessage } from './send.ts';
import type { ToolGuest } from './tool-guest.ts';

export interface AgentTools {
  /** Lists Lodge's own tools first; of several tools with one name it keeps the first. Never rejects. */
  list(guest: ToolGuest, signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /** Calls a tool. A failure is a sentence with `isError`; null means that there is no such tool. Never rejects. */
  call(guest: ToolGuest, name: string, args: Json, signal: AbortSignal): Promise<ToolAnswer | null>;
  /** Makes a stored call of a tool of Lodge's that was allowed. */
  readonly make: MakeCall;
}

const usageNow: Tool<'usage_now'> = async ({ spend }, { guest }) => {
  const now = new Date();
  const { daySpentUsd, monthSpentUsd, limits } = await spend.ofAgent(guest.agentId, now);
  return {
    spent_today_usd: daySpentUsd,
    spent_this_month_usd: monthSpentUsd,
    limits: limits.map((limit) => ({
      of: limit.scope,
      period: limit.period,
      limit_usd: limit.limitUsd,
      left_usd: leftUsd(limit),
      resets_at: spendWindow(limit.period, now).end.toISOString(),
    })),
    ...(limits.length === 0 && { note: 'No spend limit holds for you.' }),
  };
};

const tools: { readonly [Name in OwnToolName]: Tool<Name> } = {
  channels_list: channelsList,
  send_message: sendMessage,
  send_file: sendFile,
  agents_list: agentsList,
  ask_agent: askAgent,
  usage_now: usageNow,
  ask_owner: askOwner,
};

const isOwn = (name: string): name is OwnToolName => Object.hasOwn(tools, name);

/** Bound on the tools of all sources together. */
const maxTools = 256;

export function createAgentTools(deps: AgentToolsDeps): AgentTools {
  const pace = new Pace();
  const sources = deps.sources ?? [];
  const offered: readonly OfferedTool[] = [
    ...Object.entries(ownTools)
      .filter(([name]) => name !== 'ask_owner' || deps.guard !== undefined)
      .map(([name, { description, fields }]) => ({ name, description, inputSchema: schemaOf(fields) })),
    ...(deps.schedules ? scheduleTools : []),
  ];
  return {
    async list({ agentId }, signal) {
      const further = await Promise.all(sources.map((source) => source.tools(agentId, signal)));
      const named = new Map<string, OfferedTool>();
      for (const tool of [...offered, ...further.flat()]) if (!named.has(tool.name)) named.set(tool.name, tool);
      return [...named.values()].slice(0, maxTools);
    },
    async call(guest, name, args, signal) {
      try {
        if (offered.some((tool) => tool.name === name))
          return await confirmedOwn(deps, pace, { guest, name, args, signal });
        for (const source of sources) {
          const answer = await source.call(guest, name, args, signal);
          if (answer !== null) return answer;
        }
        return null;
      } catch (error) {
        return failed(deps, guest, name, error);
      }
    },
    async make(agent, call, signal) {
      if (call.kind !== 'tool') return { outcome: 'failed', text: 'It is no tool of Lodge.' };
      const { name, arguments: args } = call;
      const guest = { ...agent, confirmations: null };
      const { answer, end } = await ended(deps, pace, { guest, name, args, signal });
      return { outcome: end, text: textOfAnswer(answer) };
    },
  };
}

/** Calls a tool of Lodge's if the owner's rules allow it. Arguments that are none are refused before anybody is asked. */
async function confirmedOwn(deps: AgentToolsDeps, pace: Pace, call: OwnCall): Promise<ToolAnswer> {
  const { guest, name, args, signal } = call;
  const act = ownToolAct(name, args);
  const policy = policyFor(guest.confirmations, act);
  // A question is put to the owner itself, so nobody is asked whether it may be.
  if (policy === 'allow' || (policy === 'ask' && name === 'ask_owner')) return said(await own(deps, pace, call));
  if (policy === 'deny' || deps.guard === undefined) {
    throw new Refusal('invalid_request', 'A rule of the owner denies this call. Do not try it in another way.');
  }
  readArguments(fieldsOf(name), args);
  const stored = { kind: 'tool', name, arguments: args } as const;
  return toolConfirmed(deps.guard, { caller: guest, act, call: stored, signal }, () => ended(deps, pace, call));
}

/** Calls a tool of Lodge's, and says whether it was done. A refusal comes before anything is done. */
async function ended(deps: AgentToolsDeps, pace: Pace, call: OwnCall): Promise<ToolCalled> {
  try {
    return { answer: said(await own(deps, pace, call)), end: 'done' };
  } catch (error) {
    return { answer: failed(deps, call.guest, call.name, error), end: error instanceof Refusal ? 'failed' : 'unknown' };
  }
}

const fieldsOf = (name: string): ToolFields =>
  isOwn(name) ? ownTools[name].fields : scheduleToolWords[name as keyof typeof scheduleToolWords].fields;

interface OwnCall {
  readonly guest: ToolGuest;
  readonly name: string;
  readonly args: Json;
  readonly signal: AbortSignal;
}

async function own(deps: AgentToolsDeps, pace: Pace, { guest, name, args: given, signal }: OwnCall): Promise<Json> {
  if (!isOwn(name)) {
    pace.take(name, guest.agentId);
    return callScheduleTool(deps.schedules!, { guest, name, given });
  }
  const args = readArguments(ownTools[name].fields, given);
  pace.take(name, guest.agentId);
  // The table has each tool under its own name.
  const tool = tools[name] as Tool<OwnToolName>;
  return tool(deps, { guest, args, signal });
}

/** Limits how many calls an agent may make in a minute. */
class Pace {
  private readonly buckets = new Map(Object.entries(toolRates).map(([name, rate]) => [name, new TokenBuckets(rate)]));

  take(name: string, agentId: string): void {
    const bucket = this.buckets.get(name);
    if (!bucket || bucket.allows(agentId, performance.now())) return;
    throw new Refusal('rate_limit_exceeded', `${name} was called too often. Wait a minute and try again.`);
  }
}

const said = (result: Json): ToolAnswer => ({
  content: [{ type: 'text', text: JSON.stringify(result) }],
  isError: false,
});

function failed({ log }: AgentToolsDeps, { agentId: agent_id }: ToolGuest, tool: string, error: unknown): ToolAnswer {
  if (!(error instanceof Refusal))
    log.error({ err: error, agent_id, tool: tool.slice(0, 64) }, 'a tool of an agent failed');
  const text = error instanceof Refusal ? error.message : 'Something went wrong. Try again later.';
  return { content: [{ type: 'text', text }], isError: true };
}
