/** `lodge account`: the account, its setting, and its spending. */
import type { Account } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { yesNo } from '../../terminal/words.ts';
import { spendPairs } from './limits.ts';

export default function account(command: Command, on: On): void {
  examples(command, ['lodge account', 'show whose key this is']).action(
    on(async (run) => {
      const lodge = await run.lodge();
      const found = await lodge.account.get(run.call);
      const { url, name } = await run.choice();
      run.out.result(found, () => accountFields(run.out, found, url, name));
    }),
  );
  const update = command
    .command('update')
    .description('Change the setting of the account.')
    .addOption(
      new Option('--record-llm-calls <yes or no>', 'keep what is said in model calls for some days')
        .choices(['yes', 'no'])
        .makeOptionMandatory(),
    );
  examples(update, ['lodge account update --record-llm-calls yes', 'keep contents of model calls']).action(
    on(async (run, { recordLlmCalls }: { readonly recordLlmCalls: 'yes' | 'no' }) => {
      const lodge = await run.lodge();
      const found = await lodge.account.update({ record_llm_calls: recordLlmCalls === 'yes' }, run.call);
      const { url, name } = await run.choice();
      run.out.result(found, () => accountFields(run.out, found, url, name));
    }),
  );
  const spend = command.command('spend').description("Show what the account's agents spent, and its limit.");
  examples(spend, ['lodge account spend', 'show today and this month']).action(
    on(async (run) => {
      const lodge = await run.lodge();
      const found = await lodge.account.spend(run.call);
      run.out.result(found, () => run.out.fields(spendPairs(found)));
    }),
  );
}

const accountFields = (out: Output, account: Account, url: string, context: string | null): string =>
  out.fields([
    ['name', cell(account.name)],
    ['id', cell(account.id)],
    ['e-mail', cell(account.email)],
    ['role', cell(account.role)],
    ['records model calls', yesNo(account.record_llm_calls)],
    ['created', cell(account.created_at)],
    ['context', cell(context)],
    ['server', cell(url)],
  ]);
