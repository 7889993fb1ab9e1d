/** The rules by which calls of an agent are allowed, denied, or wait for its owner. */
import type { ChannelName } from '../channels/channel.ts';
import { isConnectionName } from '../connections/connection.ts';
import { Refusal } from '../refusal.ts';
import { everyMsOf } from '../schedules/timing.ts';
import { matchesGlob } from './glob.ts';

export const confirmationPolicies = ['allow', 'ask', 'deny'] as const;
export type ConfirmationPolicy = (typeof confirmationPolicies)[number];

export interface ConfirmationRule {
  /** `connection:<name>`, `tool:<name>`, `messages`, `schedules`, `packages` or `command`. */
  readonly on: string;
  /** A pattern with `*`; see `GuardedAct.texts`. */
  readonly match: string;
  readonly policy: ConfirmationPolicy;
}

export interface Confirmations {
  /** The first one that fits counts. */
  readonly rules: readonly ConfirmationRule[];
  readonly default: ConfirmationPolicy;
  /** Conversations in which the owner is asked. */
  readonly deliver: readonly { readonly channel: ChannelName; readonly conversation: string }[];
  /** Ids of senders on channels who may decide, alone or behind their channel's name and a colon. */
  readonly deciders: readonly string[];
  /** Time until an undecided confirmation is closed, such as `24h`. */
  readonly expires: string;
}

export const confirmationLimits = {
  rules: 100,
  onChars: 80,
  matchChars: 512,
  deliver: 5,
  deciders: 20,
  deciderChars: 200,
  expires: '24h',
  leastMs: 5 * 60_000,
  mostMs: 30 * 86_400_000,
} as const;

/** Words of `on` that stand for several tools. */
export const confirmationGroups = ['messages', 'schedules', 'packages', 'command'] as const;

const toolsOf: Readonly<Record<string, (typeof confirmationGroups)[number]>> = {
  send_message: 'messages',
  send_file: 'messages',
  schedule_create: 'schedules',
  schedule_delete: 'schedules',
  packages_install: 'packages',
  packages_remove: 'packages',
};

/** Tools that change nothing, or ask by themselves. The default is not for them. */
const harmless = new Set(['channels_list', 'agents_list', 'usage_now', 'schedule_list', 'packages_list', 'ask_owner']);

/** An act of an agent, as rules see it. */
export interface GuardedAct {
  /** The words of `on` that name it, the narrowest first. */
  readonly on: readonly [string, ...string[]];
  /** Any of them may fit a rule: `METHOD path`, the name of a tool, the text of its arguments. */
  readonly texts: readonly [string, ...string[]];
  readonly hasDefault: boolean;
}

/** A request to an `http` connection. The path is canonical, and its query is not looked at. */
export const requestAct = (connection: string, method: string, path: string): GuardedAct => ({
  on: [`connection:${connection}`],
  texts: [`${method} ${path}`],
  hasDefault: true,
});

/** A call of a tool of an `mcp` connection, by the server's name for it. */
export const remoteToolAct = (connection: string, tool: string): GuardedAct => ({
  on: [`connection:${connection}`],
  texts: [tool],
  hasDefault: true,
});

/** A call of a tool of Lodge's. */
export function ownToolAct(tool: string, args: unknown): GuardedAct {
  const group = Object.hasOwn(toolsOf, tool) ? [toolsOf[tool]!] : [];
  return { on: [`tool:${tool}`, ...group], texts: [tool, JSON.stringify(args)], hasDefault: !harmless.has(tool) };
}

/**
 * The policy for an act. Servers may read another case, or a slash at the end, as the same path: a rule that restricts fits
 * those too, and a rule that allows fits what is written alone.
 */
export function policyFor(confirmations: Confirmations | null, act: GuardedAct): ConfirmationPolicy {
  if (confirmations === null) return 'allow';
  const rule = confirmations.rules.find((each) => act.on.includes(each.on) && fits(each, act));
  if (rule !== undefined) return rule.policy;
  return act.hasDefault ? confirmations.default : 'allow';
}

function fits({ match, policy }: ConfirmationRule, { texts }: GuardedAct): boolean {
  if (policy === 'allow') return texts.some((text) => matchesGlob(match, text));
  const pattern = looseOf(match);
  return texts.some((text) => matchesGlob(pattern, looseOf(text)));
}

const looseOf = (text: string): string => {
  const lower = text.toLowerCase();
  return lower.length > 1 && lower.endsWith('/') ? lower.slice(0, -1) : lower;
};

/** A rule for acts like this one; null where its text has a star, which would be a pattern. */
export function ruleFor({ on, texts }: GuardedAct, policy: ConfirmationPolicy): ConfirmationRule | null {
  const [match] = texts;
  return match.includes('*') ? null : { on: on[0], match, policy };
}

/** Whether a text names acts. A connection's name is checked for its form alone. */
export function isRuleSubject(on: string): boolean {
  if (confirmationGroups.some((group) => group === on)) return true;
  const connection = connectionOfRule(on);
  if (connection !== null) return isConnectionName(connection);
  return /^tool:[a-z][a-z_]{0,63}$/.test(on);
}

/** The connection that a rule is on, or null. */
export const connectionOfRule = (on: string): string | null =>
  on.startsWith('connection:') ? on.slice('connection:'.length) : null;

/** Milliseconds until an undecided confirmation is closed. */
export const expiryMsOf = (confirmations: Confirmations | null): number =>
  everyMsOf(confirmations?.expires ?? confirmationLimits.expires) ?? confirmationLimits.leastMs;

/** Refuses rules whose words are wrong, with the field's name. Whether connections and conversations exist is not looked at. */
export function checkConfirmations({ rules, expires }: Confirmations): void {
  for (const [index, { on }] of rules.entries()) {
    if (isRuleSubject(on)) continue;
    throw wrong(
      `confirmations.rules[${index}].on must be connection:<name>, tool:<name>, ${confirmationGroups.join(', ')}.`,
    );
  }
  const ms = everyMsOf(expires);
  if (ms === null || ms < confirmationLimits.leastMs || ms > confirmationLimits.mostMs) {
    throw wrong('confirmations.expires must be a time such as 30m, 24h or 7d, of 5 minutes to 30 days.');
  }
}

/** Whether the sender on the channel may decide. */
export const isDecider = ({ deciders }: Confirmations, channel: ChannelName, sender: string): boolean =>
  deciders.includes(sender) || deciders.includes(`${channel}:${sender}`);

const wrong = (message: string): Refusal => new Refusal('invalid_request', message);
