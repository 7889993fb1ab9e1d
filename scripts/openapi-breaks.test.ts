import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { breaksBetween } from './openapi-breaks.ts';

const document = new URL('../docs/reference/openapi.json', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'lodge-openapi-'));
after(() => rm(folder, { recursive: true }));

type Document = any;
type Change = (document: Document) => void;

/** Lists the breaks of the document after these changes. */
async function breaksOf(changes: readonly Change[]): Promise<string[]> {
  const revision: Document = JSON.parse(await readFile(document, 'utf8'));
  for (const change of changes) change(revision);
  const file = join(folder, 'revision.json');
  await writeFile(file, JSON.stringify(revision));
  return breaksBetween(document, file);
}

const schemas = ({ components }: Document) => components.schemas;
const isType = ({ name }: Document): boolean => name === 'type';
/** So many values that Redocly takes the parameter that gains them for another one. */
const further = Array.from({ length: 200 }, (_, index) => `further.type_${index}`);
const without = (list: readonly string[], name: string): string[] => list.filter((one) => one !== name);

/** Each kind of break, with what is said of it. */
const breaking: readonly (readonly [said: RegExp, change: Change])[] = [
  [/Path `\/v1\/sizes` was removed/, ({ paths }) => delete paths['/v1/sizes']],
  [/Operation `DELETE \/v1\/agents\/\{id\}` was removed/, ({ paths }) => delete paths['/v1/agents/{id}'].delete],
  [/`operationId` .* changed/, ({ paths }) => (paths['/v1/chat/completions'].post.operationId = 'renamed')],
  [/Response `202` was removed/, ({ paths }) => delete paths['/v1/agents/{id}/start'].post.responses['202']],
  [
    /Media type `application\/octet-stream` was removed/,
    ({ paths }) => {
      paths['/v1/agents/{id}/files/{path}'].put.requestBody.content = { 'text/plain': { schema: { type: 'string' } } };
    },
  ],
  [/Request body became required/, ({ paths }) => (paths['/v1/agents/{id}/start'].post.requestBody.required = true)],
  [
    /Required `zone` query parameter was added/,
    ({ paths }) =>
      paths['/v1/usage'].get.parameters.push({ name: 'zone', in: 'query', required: true, schema: { type: 'string' } }),
  ],
  [
    /`name` query parameter was removed/,
    ({ paths }) => {
      paths['/v1/agents'].get.parameters = paths['/v1/agents'].get.parameters.filter(
        (one: Document) => one.name !== 'name',
      );
    },
  ],
  [/`CreateAgent` became required: `size`/, (all) => schemas(all).CreateAgent.required.push('size')],
  [/Property `stdin` of `ExecRequest` was removed/, (all) => delete schemas(all).ExecRequest.properties.stdin],
  [/Type of `name` narrowed/, (all) => (schemas(all).CreateMember.properties.name.type = 'integer')],
  [/`maxLength` of `name` changed/, (all) => (schemas(all).CreateAgent.properties.name.maxLength = 3)],
  [/`minLength` of `name` changed/, (all) => (schemas(all).CreateSchedule.properties.name.minLength = 5)],
  [/Upper bound of `timeout_seconds`/, (all) => (schemas(all).ExecRequest.properties.timeout_seconds.maximum = 10)],
  [/`pattern` of `url` changed/, (all) => (schemas(all).CreateWebhook.properties.url.pattern = '^https://x')],
  [/Enum of `page` lost values/, (all) => (schemas(all).CreateLink.properties.page.enum = ['gateway'])],
  [/`additionalProperties` of `AgentChat`/, (all) => (schemas(all).AgentChat.additionalProperties = false)],
  [/Property `model` of `Agent` was removed/, (all) => delete schemas(all).Agent.properties.model],
  [
    /`Model` are no longer required: `name`/,
    (all) => {
      schemas(all).Model.required = without(schemas(all).Model.required, 'name');
    },
  ],
  [
    /`type` query parameter was removed/,
    ({ paths }) => {
      const { schema } = paths['/v1/events'].get.parameters.find(isType);
      schema.enum = [...further, ...schema.enum.slice(1)];
    },
  ],
  [/Type of `enabled` widened/, (all) => (schemas(all).Webhook.properties.enabled.type = ['boolean', 'null'])],
  [/Enum of `status` gained values/, (all) => schemas(all).Agent.properties.status.enum.push('hibernating')],
];

test('every kind of break is found', async () => {
  const found = await breaksOf(breaking.map(([, change]) => change));
  for (const [said] of breaking)
    assert.ok(
      found.some((line) => said.test(line)),
      `${said} in:\n${found.join('\n')}`,
    );
});

test('what old clients do not notice is no break, and neither is a new error code or scope', async () => {
  const found = await breaksOf([
    ({ paths }) => (paths['/v1/new'] = { get: { ...paths['/v1/sizes'].get, operationId: 'new' } }),
    (all) => schemas(all).Error.properties.error.properties.code.enum.push('new_code'),
    (all) => schemas(all).CreateApiKey.properties.scopes.items.enum.push('new:scope'),
    (all) => schemas(all).ApiKey.properties.scopes.items.enum.push('new:scope'),
    (all) => (schemas(all).Agent.properties.extra = { type: 'string' }),
    (all) => schemas(all).Agent.required.push('extra'),
    (all) => (schemas(all).CreateAgent.properties.extra = { type: 'string' }),
    (all) => (schemas(all).CreateAgent.properties.name.maxLength = 3000),
    (all) => schemas(all).CreateLink.properties.page.enum.push('more'),
    ({ paths }) => paths['/v1/events'].get.parameters.find(isType).schema.enum.unshift(...further),
  ]);
  assert.deepEqual(found, []);
});
