/** `lodge import`: what it takes of a folder, what it leaves out, and that a hostile folder does no harm. */
import assert from 'node:assert/strict';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { send } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';
import { newKeeper, openApplyWorld } from './apply/world.ts';
import type { Keeper } from './apply/world.ts';

const hidden = 'marked-secret-of-the-folder-0123456789';

let world: World;
let keeper: Keeper;
before(async () => {
  world = await openApplyWorld();
  keeper = await newKeeper(world);
});
after(async () => {
  await keeper.close();
  await world.close();
});

async function openclawFolder(): Promise<string> {
  const folder = keeper.path('openclaw');
  await mkdir(join(folder, 'workspace/memory'), { recursive: true });
  const config = {
    agents: { defaults: { model: { primary: 'anthropic/claude-sonnet-5' } } },
    models: { providers: { anthropic: { apiKey: hidden } } },
    channels: {
      telegram: { enabled: true, botToken: hidden, dmPolicy: 'allowlist', allowFrom: [42, '*'], groups: { '-7': {} } },
      whatsapp: { enabled: true },
    },
  };
  await writeFile(join(folder, 'openclaw.json'), `// made by hand\n${JSON.stringify(config, null, 2)}`);
  await writeFile(join(folder, 'workspace/SOUL.md'), 'You are Heron.\n');
  await writeFile(join(folder, 'workspace/memory/today.md'), 'The owner likes tea.\n');
  return folder;
}

test('a folder of OpenClaw becomes an agent; its secrets are asked for, and those in it stay there', async () => {
  const folder = await openclawFolder();
  const workspace = join(folder, 'workspace');
  await symlink('/etc/passwd', join(workspace, 'link.md'));
  await symlink('/', join(workspace, 'everything'));
  await writeFile(join(workspace, '.env'), `KEY=${hidden}\n`);
  await writeFile(join(workspace, 'huge.bin'), '');
  await truncate(join(workspace, 'huge.bin'), 100 * 1024 ** 3);
  await writeFile(join(workspace, 'odd\u001b[2J\nname'), 'odd');
  const args = ['import', 'openclaw', folder, '--name', 'heron', '--secret', 'anthropic=env:KEY', '--yes', '--json'];
  const { code, stdout, stderr } = await keeper.lodge(...args);
  assert.equal(code, 0, stderr);
  const made = JSON.parse(stdout);
  const counts = made.left_out.map(({ reason, count }: { reason: string; count: number }) => [reason, count]);
  assert.deepEqual(Object.fromEntries(counts), {
    'it is a link': 2,
    'it is larger than 64 MiB': 1,
    'it may hold secrets': 1,
    'its name is odd': 1,
    'nobody gave this secret': 1,
    'a secret is missing': 1,
  });
  const { key } = keeper;
  const agent = (await send(world.url, 'GET', `/v1/agents/${made.id}`, { key })).body;
  assert.equal(agent.model, 'anthropic/claude-sonnet-5');
  assert.equal(agent.llm_keys[0].last4, '9f2c');
  const file = async (path: string): Promise<number> =>
    (await send(world.url, 'GET', `/v1/agents/${made.id}/files/${path}`, { key })).status;
  assert.equal(await file('memory/today.md'), 200);
  assert.equal(await file('link.md'), 404);
  assert.equal(await file('.env'), 404);
  const channels = (await send(world.url, 'GET', `/v1/agents/${made.id}/channels`, { key })).body.data;
  assert.deepEqual(
    channels.map(({ channel }: { channel: string }) => channel),
    ['whatsapp'],
  );
  assert.equal(stdout.includes(hidden) || stderr.includes(hidden), false);
  assert.equal(JSON.stringify(agent).includes(hidden), false);
});

test('a copied folder of an older OpenClaw, written by hand, is read where it lies', async () => {
  const folder = keeper.path('copy');
  for (const name of ['workspace-main', 'workspace-bee', 'agents/main/sessions', 'agents/bee/sessions'])
    await mkdir(join(folder, name), { recursive: true });
  await writeFile(
    join(folder, 'openclaw.json'),
    `{
      agents: {
        defaults: { model: { primary: 'anthropic/claude-sonnet-5', }, }, // "all" of them
        list: [{ id: 'main', default: true, workspace: '/home/other/.openclaw/workspace-main' }, { id: 'bee' }],
      },
      channels: {
        defaults: { groupPolicy: 'open' },
        signal: { account: '${hidden}' },
        telegram: { dmPolicy: 'allowlist', allowFrom: ['tg:42'], accounts: { first: { botToken: '${hidden}' }, second: {} } },
        discord: { token: '${hidden}', dm: { policy: 'allowlist', allowFrom: ['7'] } },
      },
    }`,
  );
  await writeFile(join(folder, 'workspace-main/SOUL.md'), 'You are Heron.\n');
  await writeFile(join(folder, 'workspace-bee/SOUL.md'), 'You are Bee.\n');
  await writeFile(join(folder, 'workspace-bee/notes.md'), 'One.\n');
  await writeFile(join(folder, 'agents/main/sessions/4711.jsonl'), '{}\n');
  await writeFile(join(folder, 'agents/main/sessions/4711.jsonl.deleted.2026'), '{}\n');
  await writeFile(join(folder, 'agents/main/sessions/sessions.json'), '{}\n');
  const planOf = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await keeper.lodge('import', 'openclaw', folder, ...args, '--plan', '--json');
    assert.equal(code, 0, stderr);
    assert.equal(stdout.includes(hidden), false);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const plan = await planOf();
  assert.deepEqual([plan['files'], plan['workspace']], [1, join(folder, 'workspace-main')]);
  assert.equal(plan['conversation_bytes'], 6);
  const reasons = (plan['left_out'] as { reason: string; names: string[] }[]).map(({ reason, names }) => [
    reason,
    names,
  ]);
  assert.deepEqual(Object.fromEntries(reasons), {
    'it is another agent: import it with --agent': ['bee'],
    'Lodge has no such channel': ['channel signal'],
    'an agent has one account of a channel': ['telegram account second'],
  });
  const access = (plan['channels'] as { name: string; access: { allow_from: string[] } }[]).map(
    ({ name, access: { allow_from: from } }) => [name, from],
  );
  assert.deepEqual(access, [
    ['telegram', ['42']],
    ['discord', ['7']],
  ]);
  const bee = await planOf('--agent', 'bee');
  assert.deepEqual([bee['files'], bee['workspace']], [2, join(folder, 'workspace-bee')]);
});

test('a folder that is none, or that lacks what was asked for, is refused with a hint', async () => {
  const folder = await openclawFolder();
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await keeper.lodge('import', 'openclaw', ...args, '--yes');
    assert.equal(code, 2, stderr);
    return stderr;
  };
  assert.match(await refused(keeper.path('nowhere')), /There is no folder/);
  assert.match(await refused(join(folder, 'workspace')), /is no folder of OpenClaw: it has no openclaw\.json/);
  assert.match(await refused(folder, '--workspace', join(folder, 'nowhere')), /--workspace .* is no folder/);
  assert.match(await refused(folder, '--model', 'nobody/model'), /No provider here has the model/);
  assert.match(await refused(folder, '--provider', 'nobody'), /There is no provider/);
  assert.match(await refused(folder, '--agent', 'bee'), /has no agent .*bee/);
  await rm(join(folder, 'workspace'), { recursive: true });
  assert.match(await refused(folder), /There is no workspace[^]*Give its folder with --workspace/);
});

test('an import that breaks off says which agent is there, and how to go on', async () => {
  const folder = await openclawFolder();
  // The second change is the first file.
  const before = keeper.proxy.changes().length;
  keeper.proxy.onChange = (number) => number > before + 1;
  try {
    const { code, stderr } = await keeper.lodge('import', 'openclaw', folder, '--yes', '--json');
    assert.equal(code, 7, stderr);
    assert.match(stderr, /is there, with a part of the folder\. Delete it with `lodge agents delete [a-z0-9]{12}`/);
  } finally {
    keeper.proxy.onChange = () => false;
  }
});

test('a channel of the folder has its settings when its secret is given', async () => {
  const folder = await openclawFolder();
  const secrets = ['--secret', 'anthropic=env:KEY', '--secret', 'telegram.botToken=env:TOKEN'];
  const plan = await keeper.lodge('import', 'openclaw', folder, '--plan', ...secrets, '--json');
  assert.equal(plan.code, 0, plan.stderr);
  const [telegram] = JSON.parse(plan.stdout).channels;
  assert.deepEqual(telegram, {
    name: 'telegram',
    enabled: true,
    access: {
      mode: 'allowlist',
      allow_from: ['42'],
      groups: { mode: 'allowlist', allow: ['-7'], require_mention: true },
    },
  });
  const wrong = await keeper.lodge('import', 'openclaw', folder, '--secret', 'nothing=env:KEY', '--yes');
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /nothing here needs it/);
});

test('a folder of Hermes gives its identity, memories and skills, and the rest is named', async () => {
  const folder = keeper.path('hermes');
  await mkdir(join(folder, 'memories'), { recursive: true });
  await mkdir(join(folder, 'logs'), { recursive: true });
  await writeFile(join(folder, 'config.yaml'), 'model: {provider: anthropic, default: claude-sonnet-5}\n');
  await writeFile(
    join(folder, '.env'),
    `export TELEGRAM_BOT_TOKEN="${hidden}"\nTELEGRAM_ALLOWED_USERS='1, 2'\nDISCORD_BOT_TOKEN=\n# SLACK_BOT_TOKEN=a\n`,
  );
  await writeFile(join(folder, 'SOUL.md'), 'You are Ibis.\n');
  await writeFile(join(folder, 'memories/MEMORY.md'), 'The owner likes coffee.\n');
  await writeFile(join(folder, 'logs/agent.log'), 'noise\n');
  const plan = await keeper.lodge('import', 'hermes', folder, '--plan', '--json');
  assert.equal(plan.code, 0, plan.stderr);
  const { runtime, model, provider, files, channels, left_out: leftOut } = JSON.parse(plan.stdout);
  assert.deepEqual([runtime, model, provider, files], ['hermes', 'claude-sonnet-5', 'anthropic', 2]);
  assert.equal(channels.length, 1);
  assert.deepEqual(channels[0].access, { mode: 'allowlist', allow_from: ['1', '2'] });
  assert.deepEqual(leftOut.map(({ names }: { names: string[] }) => names[0]).toSorted(), [
    '.env',
    'config.yaml',
    'logs',
  ]);
  assert.equal(plan.stdout.includes(hidden), false);
  const automatic = 'model: {provider: auto, default: anthropic/claude-sonnet-5}\n';
  await writeFile(join(folder, 'config.yaml'), automatic);
  for (const args of [
    [],
    ['--provider', 'anthropic'],
    ['--model', 'anthropic/claude-sonnet-5'],
    ['--model', 'claude-sonnet-5'],
  ]) {
    const other = await keeper.lodge('import', 'hermes', folder, ...args, '--plan', '--json');
    assert.equal(JSON.parse(other.stdout).model, 'claude-sonnet-5', args.join(' '));
  }
  const none = await keeper.lodge('import', 'hermes', keeper.path('openclaw/workspace'), '--plan');
  assert.equal(none.code, 2);
});
