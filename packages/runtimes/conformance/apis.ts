/**
 * Cases: the runtime speaks each API that the agent's provider speaks. The stub provider refuses every header and field that
 * the published API does not have.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { isWhole, type Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { stubProviders, type Tested } from './world.ts';

/** Other cases of the suite use chat completions. A runtime asks its provider the same way for a whole answer. */
const apisOf = ({ apis }: Subject) => (isWhole ? apis : apis.filter((api) => api !== 'openai-completions'));
const streamed = isWhole ? [false, true] : [true];

export function apis(results: Results, subject: Subject, agent: () => Tested): void {
  for (const api of apisOf(subject)) {
    const { id: provider, wire } = stubProviders[api];
    results.case(`a tool turn over ${api} under a spend limit, by a change of model and key alone`, async () => {
      const { llm, keys } = agent().world;
      // With one key there is only one provider that a bare model name can mean.
      const move = (model: string, from: string, to: { provider: string; api_key: string }, change: object) => {
        const gone = from === to.provider ? [] : [{ provider: from, api_key: null }];
        return agent().patch({ model, llm_keys: [...gone, to], ...change });
      };
      // Under a limit the broker refuses a call without a price, so the runtime must add nothing that has none.
      const spend_limit = { daily_usd: '1000', action: 'block' };
      await move(subject.model('any-model', provider), 'stub', { provider, api_key: keys[1] }, { spend_limit });
      for (const isStreamed of streamed) {
        const number = randomInt(1e9);
        llm.script([{ toolCalls: [subject.shell(`echo $((${number} + 1))`)] }, { text: `Over ${api}.` }]);
        const before = llm.requests.length;
        const said = isStreamed ? (await agent().stream('Run it.')).text : await agent().answer('Run it.');
        assert.match(said, new RegExp(`Over ${api}\\.`));
        const seen = llm.requests.slice(before);
        assert.equal(seen.length, 2, 'one call for the tool call, one with its result');
        for (const call of seen) {
          assert.deepEqual([call.wire, call.key, call.model], [wire, keys[1], 'any-model']);
        }
        assert.match(agent().lastSeen, new RegExp(String(number + 1)), 'the result went back to the model');
      }
      await move(subject.model('test-model'), provider, { provider: 'stub', api_key: keys[0] }, { spend_limit: null });
    });
  }
}
