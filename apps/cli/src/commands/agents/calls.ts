/** `lodge calls`: calls of models that an agent made. */
import type { LlmCall, LlmCallDetail } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { limitOption, pageOf, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { safeText } from '../../terminal/safe.ts';
import { ago, yesNo } from '../../terminal/words.ts';

export default function calls(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .addOption(limitOption())
    .description('List the model calls of an agent, newest first.');
  examples(list, ['lodge calls list ada', 'show what each call took and cost']).action(
    on(async (run, { limit }: ListOptions, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList<LlmCall>(
        run,
        lodge.llmCalls.list(id, { limit: pageOf(limit) }, run.call),
        limit,
        [
          { title: 'id', value: (each) => each.id, keep: true },
          { title: 'age', value: ({ started_at }) => ago(started_at), align: 'right' },
          { title: 'model', value: ({ provider, model }) => `${provider}/${model}` },
          {
            title: 'outcome',
            value: ({ outcome, status }) => (outcome === 'ok' ? 'ok' : `${outcome} ${status ?? ''}`),
          },
          { title: 'in', value: ({ input_tokens }) => input_tokens, align: 'right' },
          { title: 'out', value: ({ output_tokens }) => output_tokens, align: 'right' },
          { title: 'ms', value: ({ duration_ms }) => duration_ms, align: 'right' },
          { title: 'cost', value: ({ cost }) => cost, align: 'right' },
        ],
        'It has made no calls.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...agentArgument)
    .argument('<call>', "the call's id")
    .description('Show one call, with what was said where the account records it.');
  examples(show, ['lodge calls show ada 01J8Z6', 'show the call with its contents']).action(
    on(async (run, _options: object, agent: string, call: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const found = await lodge.llmCalls.get(id, call, run.call);
      run.out.result(found, () => callText(run.out, found));
    }),
  );
}

function callText(out: Output, call: LlmCallDetail): string {
  const text = out.fields([
    ['id', cell(call.id)],
    ['began', cell(call.started_at)],
    ['model', cell(`${call.provider}/${call.model}`)],
    ['outcome', cell(call.outcome)],
    ['status', cell(call.status)],
    ['ms', cell(call.duration_ms)],
    ['ms to the first byte', cell(call.time_to_first_byte_ms)],
    ['tokens in', cell(call.input_tokens)],
    ['of these from the cache', cell(call.cache_read_tokens)],
    ['tokens out', cell(call.output_tokens)],
    ['estimated', yesNo(call.estimated)],
    ['cost', cell(call.cost)],
  ]);
  if (call.content === null) return text;
  const { request, response, truncated } = call.content;
  const parts = [text, request ?? '-', response ?? '-', ...(truncated ? ['(cut)'] : [])];
  return `${parts.map((part) => safeText(part).trimEnd()).join('\n\n')}\n`;
}
