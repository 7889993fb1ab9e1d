/** The sections of an agent, in the order in which they are carried out. */
import type {
  AgentMember,
  Channel,
  Connection,
  CreateHook,
  CreateMember,
  CreateSchedule,
  Hook,
  PutChannel,
  PutConnection,
  Schedule,
} from '@lodge/sdk';
import { StoredSecret, isMap, overlaid, revealed } from './diff.ts';
import type { FieldChange } from './diff.ts';
import { inForm, textForm, timeForm, urlForm } from './forms.ts';
import type { Present, Section } from './sections.ts';
import { skills } from './skills-section.ts';
import type { Stored } from './file/secret.ts';
import { makeOnce } from './step.ts';
import type { Acting } from './step.ts';
import type { Values } from './file/wanted.ts';
import { runtimesWithMembers } from '../words.ts';

type ChannelName = Channel['channel'];

/** Returns the fields that changed, as the file has them. */
const changedOf = (wanted: Values, changes: readonly FieldChange[]): Values => {
  const fields = new Set(changes.map(({ field }) => field.split('.')[0]!));
  return Object.fromEntries(Object.entries(wanted).filter(([key]) => fields.has(key)));
};
const storedSecrets = (secrets: Readonly<Record<string, Stored>>): Values =>
  Object.fromEntries(Object.entries(secrets).map(([name, stored]) => [name, new StoredSecret(stored)]));

const storedHostSecrets = (secrets: Connection['secrets']): Values =>
  Object.fromEntries(
    Object.entries(secrets).map(([name, { in: headers, ...stored }]) => [
      name,
      { value: new StoredSecret(stored), in: headers },
    ]),
  );

const memberForm = (wanted: Values): Values => inForm(wanted, { instructions: textForm });
const members: Section = {
  field: 'members',
  noun: 'member',
  runtimes: runtimesWithMembers,
  async list(lodge, agentId, call) {
    const { data } = await lodge.members.list(agentId, call);
    return data.map(({ name, model, instructions }: AgentMember) => ({
      name,
      key: name,
      values: { model, instructions: textForm(instructions) },
    }));
  },
  form: memberForm,
  async make({ lodge, call }, agentId, _, wanted) {
    await makeOnce(
      {
        parts: ['member', agentId, wanted],
        make: (idempotencyKey) =>
          lodge.members.create(agentId, wanted as unknown as CreateMember, { ...call, idempotencyKey }),
        isThere: ({ name }) => isThere(() => lodge.members.get(agentId, name, call)),
      },
      call.signal,
    );
  },
  async change({ lodge, call }, agentId, { wanted, present, changes }) {
    await lodge.members.update(agentId, present.key, changedOf(wanted, changes), call);
  },
  async remove({ lodge, call }, agentId, key) {
    await lodge.members.delete(agentId, key, call);
  },
};

const channels: Section = {
  field: 'channels',
  noun: 'channel',
  async list(lodge, agentId, call) {
    const { data } = await lodge.channels.list(agentId, call);
    return data.map(({ channel, enabled, access, credentials }: Channel) => ({
      name: channel,
      key: channel,
      values: { enabled, access, ...storedSecrets(credentials) },
    }));
  },
  form: (wanted) => wanted,
  async make({ lodge, call }, agentId, name, wanted) {
    await lodge.channels.put(agentId, name as ChannelName, revealed(wanted) as PutChannel, call);
  },
  async change({ lodge, call }, agentId, { wanted, present, changes }) {
    const { appToken, botToken, ...given } = wanted;
    const { enabled, access } = present.values;
    const changed = new Set(changes.map(({ field }) => field));
    const body = {
      ...overlaid({ enabled, access }, given),
      ...(changed.has('appToken') && { appToken }),
      ...(changed.has('botToken') && { botToken }),
    };
    await lodge.channels.put(agentId, present.key as ChannelName, revealed(body) as PutChannel, call);
  },
  async remove({ lodge, call }, agentId, key) {
    await lodge.channels.delete(agentId, key as ChannelName, call);
  },
  note(name, _, present) {
    if (present !== undefined) return undefined;
    if (name === 'whatsapp') return 'Pair it afterwards: lodge channels pair.';
    return name === 'gmail' ? 'Its owner consents afterwards: lodge channels connect.' : undefined;
  },
};

/** Headers are one whole: the API replaces all of them. */
const lowerKeys = (headers: unknown): unknown =>
  isMap(headers)
    ? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    : headers;

const connections: Section = {
  field: 'connections',
  noun: 'connection',
  async list(lodge, agentId, call) {
    const { data } = await lodge.connections.list(agentId, call);
    return data.map(connectionPresent);
  },
  form: (wanted) => inForm(wanted, { url: urlForm, headers: lowerKeys }),
  wholes: ['headers', 'secrets'],
  async make({ lodge, call }, agentId, name, wanted) {
    await lodge.connections.put(agentId, name, revealed(wanted) as PutConnection, call);
  },
  async change({ lodge, call }, agentId, { wanted, present, changes }) {
    const { kind, url, hosts, enabled, allow, tools } = present.values;
    const { headers, secrets, auth, ...given } = wanted;
    const has = (field: string): boolean => changes.some((change) => change.field.split('.')[0] === field);
    const isElsewhere = has('url') || has('hosts') || has('kind');
    const isHost = given['kind'] === 'host';
    const body = {
      kind,
      ...(isHost ? { hosts } : { url }),
      enabled,
      ...(given['kind'] === 'mcp' ? { tools } : { allow }),
      ...given,
      ...((has('headers') || isElsewhere) && headers !== undefined && { headers }),
      ...((has('secrets') || isElsewhere) && secrets !== undefined && { secrets }),
      ...((has('auth') || isElsewhere) && auth !== undefined && { auth }),
    };
    await lodge.connections.put(agentId, present.key, revealed(body) as PutConnection, call);
  },
  async remove({ lodge, call }, agentId, key) {
    await lodge.connections.delete(agentId, key, call);
  },
  note: (_, { auth }, present) =>
    auth != null && present === undefined ? 'Somebody consents afterwards: lodge connections connect.' : undefined,
};

function connectionPresent(connection: Connection): Present {
  const { name, kind, url, hosts, headers, secrets, allow, tools, auth, enabled } = connection;
  const access = auth && {
    kind: auth.kind,
    client_id: auth.client_id,
    client_secret: auth.client_secret && new StoredSecret(auth.client_secret),
    scope: auth.scope,
    authorization_url: auth.authorization_url,
    token_url: auth.token_url,
    client_auth: auth.client_auth,
  };
  return {
    name,
    key: name,
    values: {
      kind,
      ...(kind === 'host'
        ? { hosts, secrets: storedHostSecrets(secrets) }
        : { url: urlForm(url), headers: lowerKeys(storedSecrets(headers)) }),
      allow,
      tools,
      auth: access,
      enabled,
    },
  };
}

const schedules: Section = {
  field: 'schedules',
  noun: 'schedule',
  async list(lodge, agentId, call) {
    const { data } = await lodge.schedules.list(agentId, call);
    return data.map(
      ({ id, name, enabled, cron, every, at, time_zone, prompt, conversation, deliver, wake }: Schedule) => ({
        name,
        key: id,
        values: { enabled, cron, every, at: timeForm(at), time_zone, prompt, conversation, deliver, wake },
      }),
    );
  },
  form: (wanted) => inForm(wanted, { at: timeForm }),
  async make({ lodge, call }, agentId, _, wanted) {
    await makeOnce(
      {
        parts: ['schedule', agentId, wanted],
        make: (idempotencyKey) =>
          lodge.schedules.create(agentId, wanted as unknown as CreateSchedule, { ...call, idempotencyKey }),
        isThere: ({ id }) => isThere(() => lodge.schedules.get(agentId, id, call)),
      },
      call.signal,
    );
  },
  async change({ lodge, call }, agentId, { wanted, present, changes }) {
    await lodge.schedules.update(agentId, present.key, changedOf(wanted, changes), call);
  },
  async remove({ lodge, call }, agentId, key) {
    await lodge.schedules.delete(agentId, key, call);
  },
};

const hooks: Section = {
  field: 'hooks',
  noun: 'hook',
  yieldsSecret: true,
  async list(lodge, agentId, call) {
    const { data } = await lodge.hooks.list(agentId, call);
    return data.map(hookPresent);
  },
  form: (wanted) => wanted,
  async make({ lodge, call, secretsOut }, agentId, name, wanted) {
    const body = revealed(wanted) as CreateHook;
    const made = await makeOnce(
      {
        parts: ['hook', agentId, wanted],
        make: (idempotencyKey) => lodge.hooks.create(agentId, body, { ...call, idempotencyKey }),
        isThere: async () => true,
        // Nobody has seen the address of a hook whose reply was lost, so another takes its place.
        async again() {
          const { data } = await lodge.hooks.list(agentId, call);
          for (const lost of data) if (lost.name === name) await lodge.hooks.delete(agentId, lost.id, call);
          return null;
        },
      },
      call.signal,
    );
    const { id, url, created_at } = made;
    await secretsOut?.add({ kind: 'hook', agent_id: agentId, id, name, url, created_at });
  },
  async remove({ lodge, call }, agentId, key) {
    await lodge.hooks.delete(agentId, key, call);
  },
  refuse: ({ signature }, { values }) =>
    signature === undefined && values['signature'] !== undefined
      ? 'a change makes the hook anew, and its stored secret cannot be kept: give its signature'
      : undefined,
  note: (_, __, present) =>
    present === undefined ? undefined : 'A hook that changes is made anew, and has another address.',
};

function hookPresent({ id, name, template, conversation, deliver, signature }: Hook): Present {
  const checked = signature && { ...signature, secret: new StoredSecret(signature.secret) };
  return { name, key: id, values: { template, conversation, deliver, signature: checked } };
}

const ports: Section = {
  field: 'ports',
  noun: 'port',
  async list(lodge, agentId, call) {
    const { data } = await lodge.ports.list(agentId, call);
    return data.map(({ port, public: isPublic }) => ({
      name: String(port),
      key: String(port),
      values: { public: isPublic },
    }));
  },
  form: ({ public: isPublic = false, ...wanted }) => ({ ...wanted, public: isPublic }),
  make: publish,
  change: (acting, agentId, { present, wanted }) => publish(acting, agentId, present.key, wanted),
  async remove({ lodge, call }, agentId, key) {
    await lodge.ports.unpublish(agentId, Number(key), call);
  },
};

async function publish({ lodge, call }: Acting, agentId: string, name: string, wanted: Values): Promise<void> {
  await lodge.ports.publish(agentId, { port: Number(name), public: wanted['public'] === true }, call);
}

/** Whether a GET finds it. */
export async function isThere(get: () => Promise<unknown>): Promise<boolean> {
  try {
    await get();
    return true;
  } catch (error) {
    if ((error as { readonly status?: unknown }).status === 404) return false;
    throw error;
  }
}

export const sections: readonly Section[] = [members, skills, connections, channels, schedules, hooks, ports];
