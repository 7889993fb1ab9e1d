import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, agent, key, sql, baseUrl, close } = await openApp();
after(close);

const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

test('an OpenAI client lists all agents as models, beyond one page of ours', async () => {
  const first = await agent();
  await sql(`insert into agents select (jsonb_populate_record(a, jsonb_build_object(
    'id', 'b' || lpad(n::text, 11, '0'), 'created_at', a.created_at - n * interval '1 second'))).*
    from agents a, generate_series(1, 129) n`);
  const client = new OpenAI({ baseURL: baseUrl, apiKey: await key('all'), maxRetries: 0 });
  const models = [];
  for await (const model of client.models.list()) models.push(model);
  const rows = await sql('select id from agents order by created_at desc');
  assert.deepEqual(
    idsOf({ data: models }),
    rows.map(({ id }) => id),
  );
  const { created_at: created } = (await call('GET', `/v1/agents/${first}`)).body;
  assert.deepEqual(models[0], {
    id: first,
    object: 'model',
    created: Math.floor(Date.parse(created) / 1000),
    owned_by: 'lodge',
    name: 'Support bot',
  });
});

test('one agent lists itself', async () => {
  const id = await agent();
  assert.deepEqual(idsOf((await call('GET', `/v1/agents/${id}/models`)).body), [id]);
  assert.equal((await call('GET', `/v1/agents/${'a'.repeat(12)}/models`)).status, 404);
});
