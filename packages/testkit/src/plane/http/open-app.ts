/**
 * For tests of routes: the API of a whole Lodge (`openLodge`), asked without a socket, with keys of the scopes that a test
 * names. A file opens one for all of its tests. Unless it says `machines: true`, no loop runs: an agent stays in the state in
 * which a test has put it.
 */
import { cryptography } from '@lodge/access';
import { scopes } from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import { execute } from '@lodge/testkit/postgres';
import { openLodge } from '../open-lodge.ts';
import type { OpenedLodge, OpenLodgeOptions } from '../open-lodge.ts';
import { insertKey } from '@lodge/store/accounts';
import { withAgents } from '../../../../store/src/testing/agents-fixture.ts';
import type { TestStore } from '../../../../store/src/testing/agents-fixture.ts';

export interface OpenedApp extends OpenedLodge, Pick<OpenedLodge['parts'], 'app'> {
  readonly store: TestStore;
  readonly close: () => Promise<void>;
  /** The account of the keys. */
  readonly accountId: string;
  /** The log, as JSON. */
  readonly logged: string[];
  /** One request with the key `all` unless another is given. */
  readonly call: (method: Method, url: string, options?: CallOptions) => Promise<Answer>;
  /** The plaintext of a key: `all` has every scope, and others name theirs, parted by commas. */
  readonly key: (name: string) => Promise<string>;
  /** Makes an agent and sets columns of its row. Returns its id. */
  readonly agent: (given?: object, columns?: Columns) => Promise<string>;
  /** Makes an agent of which a machine runs until the test says otherwise; for `machines: true`. Returns its id. */
  readonly running: (given?: object) => Promise<string>;
  readonly setAgent: (id: string, columns: Columns) => Promise<void>;
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<Readonly<Record<string, unknown>>[]>;
}

type Columns = Readonly<Record<string, unknown>>;
type Method = 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'HEAD' | 'OPTIONS';

interface CallOptions {
  /** Scopes as of `key`, another text as it is, or none. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- a test looks into any reply
  readonly body: any;
}

export async function openApp(options: OpenLodgeOptions = {}): Promise<OpenedApp> {
  const logged: string[] = [];
  const write = (fields: object, message: string): void => void logged.push(JSON.stringify([fields, message]));
  const log = { debug: write, info: write, warn: write, error: write };
  const lodge = await openLodge({ machines: false, log, ...options });
  await lodge.firstKey?.shown();
  const { app, store } = lodge.parts;
  const sql: OpenedApp['sql'] = (text, values = []) => execute(lodge.connectionString, text, values);
  const [account] = await sql('select id from accounts');
  const accountId = String(account!['id']);
  const keys = new Map<string, Promise<string>>();
  const key = (name: string): Promise<string> => {
    if (!keys.has(name)) keys.set(name, makeKey(store, accountId, name));
    return keys.get(name)!;
  };
  const call: OpenedApp['call'] = async (method, url, { key: given = 'all', body, headers = {} } = {}) => {
    const presented = given !== null && namesScopes(given) ? await key(given) : given;
    const reply = await app.inject({
      method,
      url,
      headers: { ...(presented !== null && { 'x-api-key': presented }), ...headers },
      ...(body !== undefined && { payload: body as string | object }),
    });
    const isJson = /json/.test(String(reply.headers['content-type'])) && reply.body !== '';
    return { status: reply.statusCode, headers: reply.headers, text: reply.body, body: isJson ? reply.json() : null };
  };
  const setAgent: OpenedApp['setAgent'] = async (id, columns) => {
    const changes = Object.keys(columns).map((name, at) => `${name} = $${at + 2}`);
    if (changes.length > 0)
      await sql(`update agents set ${changes.join()} where id = $1`, [id, ...Object.values(columns)]);
  };
  const create = async (query: string, given: object): Promise<string> => {
    const { body, text } = await call('POST', `/v1/agents${query}`, { body: { name: 'Support bot', ...given } });
    if (body.object !== 'agent') throw new Error(text);
    return body.id;
  };
  return {
    ...lodge,
    app,
    store: withAgents(store),
    accountId,
    logged,
    call,
    key,
    sql,
    setAgent,
    async agent(given = {}, columns = {}) {
      const id = await create('?wait=false', given);
      await setAgent(id, columns);
      return id;
    },
    running: (given = {}) => create('', { lifecycle: { idle_timeout_seconds: 0 }, ...given }),
  };
}

const scopesOf = (name: string): readonly string[] => (name === 'all' ? scopes : name.split(','));
const isScope = (name: string): name is Scope => scopes.some((known) => known === name);
const namesScopes = (name: string): boolean => scopesOf(name).every(isScope);

async function makeKey(store: OpenedLodge['parts']['store'], accountId: string, name: string): Promise<string> {
  const { apiKeys } = cryptography;
  const made = apiKeys.make();
  const row = { accountId, name: 'test', hash: apiKeys.hash(made), last4: apiKeys.lastFour(made) };
  await store.database.transaction((trx) => insertKey(trx, { ...row, scopes: scopesOf(name).filter(isScope) }));
  return made;
}
