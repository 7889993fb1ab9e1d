/** `lodge limits`: quotas, rates, and what was spent. */
import type { Limits } from '@lodge/sdk';
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { bytes } from '../../terminal/words.ts';

export default function limits(command: Command, on: On): void {
  examples(command, ['lodge limits', 'show what is left of quotas and spend limits']).action(
    on(async (run) => {
      const lodge = await run.lodge();
      const found = await lodge.service.limits(run.call);
      run.out.result(found, () => limitFields(run.out, found));
    }),
  );
}

function limitFields(out: Output, { quotas, snapshots, rates, spend, sizes }: Limits): string {
  const used = ({ used, limit }: { readonly used: number; readonly limit: number }): string => `${used} of ${limit}`;
  return out.fields([
    ['agents', used(quotas.agents)],
    ['running agents', used(quotas.running_agents)],
    ['snapshots', `${snapshots.used_gb} of ${snapshots.limit_gb} GiB, ${snapshots.per_agent} an agent`],
    ...spendPairs(spend),
    ['reads', `${rates.reads.per_minute} a minute`],
    ['writes', `${rates.writes.per_minute} a minute`],
    ['creates', `${rates.creates.per_minute} a minute, ${rates.creates.at_once} at once`],
    ['chats, commands, files', `${rates.calls.per_minute} a minute`],
    ['largest JSON body', bytes(sizes.json_body_bytes)],
    ['largest file', bytes(sizes.file_bytes)],
  ]);
}

type Windows = Pick<NonNullable<Limits['spend']>, 'daily' | 'monthly' | 'action'>;

/** Names and values of spending, which `lodge account spend` shows too. */
export function spendPairs(spend: Windows | null): (readonly [string, string | null])[] {
  if (spend === null) return [];
  const window = ({ spent_usd, limit_usd, resets_at }: Windows['daily']): string | null =>
    cell(`${spent_usd} of ${limit_usd ?? 'any amount'} USD, until ${resets_at}`);
  return [
    ['spent today', window(spend.daily)],
    ['spent this month', window(spend.monthly)],
    ['at the limit', cell(spend.action)],
  ];
}
