/**
 * The official MCP SDK signs in by OAuth: it discovers, registers, leads a person to the consent, exchanges, uses the MCP
 * server, and renews by itself. The person's click is a request as the page sends it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnauthorizedError, auth } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { openWorld, send } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';
import { ownerOf } from '../e2e/people.ts';
import type { Person } from '../e2e/people.ts';

let world: World;
let ada: Person;
let serverUrl: URL;
before(async () => {
  world = await openWorld({ loops: false });
  ada = await ownerOf(world);
  serverUrl = new URL(`${world.origin}/v1/mcp`);
});
after(() => world?.close());

/** A program with its own keeping of what the SDK gives it, such as a desktop client. */
class Program implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:33418/callback';
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: 'Official client',
    redirect_uris: ['http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'none',
  };
  asked: URL | null = null;
  kept: OAuthTokens | undefined;
  private client: OAuthClientInformationMixed | undefined;
  private verifier = '';

  state = () => 'a state';
  clientInformation = () => this.client;
  saveClientInformation = (client: OAuthClientInformationMixed) => void (this.client = client);
  tokens = () => this.kept;
  invalidateCredentials = () => void (this.kept = undefined);
  saveTokens = (tokens: OAuthTokens) => void (this.kept = tokens);
  redirectToAuthorization = (url: URL) => void (this.asked = url);
  saveCodeVerifier = (verifier: string) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
}

/** Does what the page does once its person has clicked. Returns the parameters of the answer. */
async function agree(asked: URL, scopes: readonly string[]): Promise<URLSearchParams> {
  assert.equal(asked.origin + asked.pathname, `${world.origin}/account/authorize`);
  const body = { ...Object.fromEntries(asked.searchParams), approve: true, scopes };
  const decided = await ada.call('POST', '/account/authorization/decision', body);
  assert.equal(decided.status, 200, decided.text);
  return new URL(decided.body.redirect_to).searchParams;
}

/** Waits until the service has heard that a token is good no more. */
async function refused(token: string): Promise<void> {
  while ((await send(world.url, 'GET', '/v1/account/keys/current', { key: token })).status !== 401) await sleep(20);
}

test('the official client comes to its tools by a consent, renews its access, and is out once it is revoked', async (t) => {
  const program = new Program();
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: program }));
    t.after(() => client.close());
    return client;
  };
  await assert.rejects(connect(), UnauthorizedError);
  const answer = await agree(program.asked!, ['agents:read']);
  assert.deepEqual([answer.get('state'), answer.get('iss')], ['a state', world.origin]);
  assert.equal(await auth(program, { serverUrl, authorizationCode: answer.get('code')! }), 'AUTHORIZED');
  assert.deepEqual([program.kept!.scope, program.kept!.expires_in], ['agents:read', 3_600]);

  const client = await connect();
  assert.ok((await client.listTools()).tools.length > 0);
  const [grant] = (await ada.call('GET', '/account/grants')).body.data;
  assert.deepEqual([grant.client_name, grant.redirect_host], ['Official client', '127.0.0.1:33418']);

  const { access_token: first } = program.kept!;
  await world.sql.query('update api_keys set expires_at = now() where id = $1', [grant.id]);
  await refused(first);
  assert.ok((await client.listTools()).tools.length > 0, 'a 401 makes the client renew');
  assert.notEqual(program.kept!.access_token, first);

  assert.equal((await ada.call('DELETE', `/account/grants/${grant.id}`)).status, 200);
  await refused(program.kept!.access_token);
  program.asked = null;
  await assert.rejects(client.listTools());
  assert.notEqual(program.asked, null, 'it would ask its person again');
});

test('a code that a stranger sees is worth nothing to them, and one that comes twice ends the access', async () => {
  const [program, thief] = [new Program(), new Program()];
  await auth(program, { serverUrl });
  await auth(thief, { serverUrl });
  const code = (await agree(program.asked!, ['agents:read'])).get('code')!;
  await assert.rejects(auth(thief, { serverUrl, authorizationCode: code }), { errorCode: 'invalid_grant' });
  assert.equal(await auth(program, { serverUrl, authorizationCode: code }), 'AUTHORIZED');
  await assert.rejects(auth(program, { serverUrl, authorizationCode: code }), { errorCode: 'invalid_grant' });
  assert.deepEqual((await ada.call('GET', '/account/grants')).body.data, []);
});
