/** The field `confirmations` as the form of an agent's settings has it. */
import { channelNames } from '@lodge/contract/words';
import type { Agent, UpdateAgent } from '@lodge/sdk';
import type { Kind } from './use-setting.ts';

type Rules = NonNullable<Agent['confirmations']>;
export type Policy = Rules['default'];
/** A rule as typed: whom it is about, which texts, and what then. */
export type AskRule = readonly [on: string, match: string, policy: Policy];

export type Ask = {
  who: 'nothing' | 'rules';
  rules: readonly AskRule[];
  rest: Policy;
  /** One conversation or person on each line. */
  deliver: string;
  deciders: string;
  expires: string;
};

export const askGroups = ['messages', 'schedules', 'packages', 'command'] as const;
const subject = /^(?:connection:[a-z0-9][a-z0-9_-]{0,63}|tool:[a-z][a-z_]{0,63}|messages|schedules|packages|command)$/;

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `telegram 8127361` */
function destinationOf(line: string): Rules['deliver'][number] | null {
  const at = line.indexOf(' ');
  const channel = channelNames.find((name) => name === line.slice(0, at));
  const conversation = line.slice(at + 1).trim();
  return channel === undefined || conversation === '' ? null : { channel, conversation };
}

function rulesProblem(rules: readonly AskRule[]): string | undefined {
  const wrong = rules.findIndex(([on]) => !subject.test(on.trim()));
  return wrong === -1
    ? undefined
    : `Rule ${wrong + 1} must be about connection:<name>, tool:<name>, ${askGroups.join(', ')}.`;
}

function deliverProblem(text: string): string | undefined {
  const wrong = linesOf(text).find((line) => destinationOf(line) === null);
  return wrong === undefined ? undefined : `“${wrong.slice(0, 60)}” is no channel, a space and a conversation’s id.`;
}

export const ask: Kind<Ask> = {
  id: 'confirmations',
  name: 'Confirmations',
  of({ confirmations: given }) {
    if (given === null) return { who: 'nothing', rules: [], rest: 'allow', deliver: '', deciders: '', expires: '24h' };
    return {
      who: 'rules',
      rules: given.rules.map(({ on, match, policy }) => [on, match, policy]),
      rest: given.default,
      deliver: given.deliver.map(({ channel, conversation }) => `${channel} ${conversation}`).join('\n'),
      deciders: given.deciders.join('\n'),
      expires: given.expires,
    };
  },
  patch: ({ who, rules, rest, deliver, deciders, expires }): UpdateAgent => ({
    confirmations:
      who === 'nothing'
        ? null
        : {
            rules: rules.map(([on, match, policy]) => ({ on: on.trim(), match: match.trim() || '*', policy })),
            default: rest,
            deliver: linesOf(deliver).map((line) => destinationOf(line)!),
            deciders: [...linesOf(deciders)],
            expires: expires.trim(),
          },
  }),
  check({ who, rules, deliver, expires }) {
    if (who === 'nothing') return {};
    return {
      rules: rulesProblem(rules),
      deliver: deliverProblem(deliver),
      expires: /^[1-9]\d{0,6}[mhd]$/.test(expires.trim()) ? undefined : 'Enter a time such as 30m, 24h or 7d.',
    };
  },
};
