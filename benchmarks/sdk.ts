/**
 * A GET by the SDK against the same by bare fetch, in turns within one run: each reads an agent and parses it.
 *
 *   node benchmarks/sdk.ts [ROUNDS]
 */
import { Lodge } from '@lodge/sdk';
import { openWorld } from '../tests/e2e/api/world.ts';

const rounds = Number(process.argv[2] ?? 40);
const requestsPerRound = 50;

const world = await openWorld();
const lodge = new Lodge({ baseUrl: world.url, apiKey: world.key });
const { id } = await lodge.agents.create({ name: 'measured' });
const url = `${world.url}/v1/agents/${id}`;
const headers = { authorization: `Bearer ${world.key}`, accept: 'application/json' };

const ways: Readonly<Record<'fetch' | 'sdk', () => Promise<unknown>>> = {
  fetch: async () => (await fetch(url, { headers })).json(),
  sdk: () => lodge.agents.get(id),
};
const times: Record<'fetch' | 'sdk', number[]> = { fetch: [], sdk: [] };

for (let round = -3; round < rounds; round += 1) {
  // Each goes first as often as the other.
  for (const way of round % 2 === 0 ? (['fetch', 'sdk'] as const) : (['sdk', 'fetch'] as const)) {
    const startedAt = performance.now();
    for (let n = 0; n < requestsPerRound; n += 1) await ways[way]();
    if (round >= 0) times[way].push((performance.now() - startedAt) / requestsPerRound);
  }
}
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const [bare, sdk] = [median(times.fetch), median(times.sdk)];
console.log(
  `fetch ${bare.toFixed(3)} ms, SDK ${sdk.toFixed(3)} ms: ${(sdk / bare).toFixed(2)} x (goal: at most 1.2 x)`,
);
await world.close();
