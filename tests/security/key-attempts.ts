/**
 * The attempts of a guest's root user at the broker: to get a key, to use another agent's key or budget, to reach a private
 * address through it, to smuggle requests, to forge the source address.
 */
import type { Reply } from '@lodge/testkit/llm';

export interface Attempt {
  readonly name: string;
  /** Over TCP to the broker's address in a guest, or another; or a command of its shell. */
  readonly host?: string;
  readonly port?: number;
  readonly from?: string;
  readonly sends?: readonly { readonly text: string; readonly times?: number }[];
  readonly command?: string;
  /** How the provider answers meanwhile. */
  readonly provider?: Reply;
  /** The reply, or `failure <why>`. */
  readonly wants: RegExp;
}

/** The targets of the attempts. `key` is the attacker's own. */
export interface Stakes {
  readonly key: string;
  readonly victimId: string;
  readonly victimAddress: string;
  readonly attackerAddress: string;
  readonly brokerHost: string;
  readonly apiPort: number;
  readonly markers: readonly string[];
}

const path = '/openai/v1/chat/completions';
const chat = JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'attempt' }] });

interface Sent {
  readonly method?: string;
  readonly to?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One whole request, its length as it is unless a header says otherwise. */
function http({ method = 'POST', to = path, headers = {}, body = chat }: Sent = {}): Pick<Attempt, 'sends'> {
  const all = { host: 'x', connection: 'close', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return { sends: [{ text: `${method} ${to} HTTP/1.1\r\n${head.join('')}\r\n${body}` }] };
}
const raw = (text: string): Pick<Attempt, 'sends'> => ({ sends: [{ text }] });
const model = (name: string): string => chat.replace('default', name);

const ok = /^HTTP\/1\.1 200 /;
const bad = /^HTTP\/1\.1 400 /;
const missing = /^HTTP\/1\.1 404 /;
const noWay = /^failure (E\w+|silent|closed)$/;

export const attempts = (stakes: Stakes): Attempt[] => [
  ...forKeys(stakes),
  ...asAnother(stakes),
  ...toPrivatePlaces(stakes),
  ...smuggling(),
];

function forKeys({ key, markers }: Stakes): Attempt[] {
  const pieces = markers.map((marker) => `${marker.slice(0, 12)}[${marker[12]}]${marker.slice(13)}`).join('|');
  const json = (body: object): Reply => ({ raw: { contentType: 'application/json', body: JSON.stringify(body) } });
  return [
    {
      name: 'a provider that repeats the key in its answer',
      ...http(),
      provider: json({ choices: [], said: key }),
      wants: /\[redacted\]/,
    },
    {
      name: 'a provider that repeats the key in its error',
      ...http(),
      provider: { status: 401, message: `Incorrect API key provided: ${key}` },
      wants: /\[redacted\]/,
    },
    {
      name: 'a provider that masks the key but for its ends',
      ...http(),
      provider: { status: 401, message: `Incorrect API key provided: ${key.slice(0, 6)}****${key.slice(-4)}` },
      wants: /\[redacted\]/,
    },
    {
      name: 'a provider that repeats the key in a header',
      ...http(),
      provider: { text: 'x', headers: { 'x-request-id': key } },
      wants: /x-request-id: \[redacted\]/i,
    },
    {
      name: 'a provider that repeats the key in a stream',
      ...http({ body: chat.replace('{', '{"stream":true,') }),
      provider: { raw: { contentType: 'text/event-stream', body: `data: {"said":"${key}"}\n\ndata: [DONE]\n\n` } },
      wants: /\[redacted\]/,
    },
    {
      name: 'the list of models',
      ...http({ method: 'GET', to: '/openai/v1/models', body: '' }),
      wants: /"id":"default"/,
    },
    {
      name: "the provider's other endpoints: keys, files, stored responses",
      ...http({ method: 'GET', to: '/openai/v1/organization/admin_api_keys', body: '' }),
      wants: missing,
    },
    {
      name: 'a stored response of somebody else',
      ...http({ method: 'GET', to: '/openai/v1/responses/resp_1', body: '' }),
      wants: missing,
    },
    {
      name: 'TRACE, which repeats what it was sent',
      ...http({ method: 'TRACE', body: '' }),
      wants: /^HTTP\/1\.1 4\d\d /,
    },
    {
      name: 'a key of its own choice in every place for one',
      ...http({
        headers: {
          authorization: 'Bearer stolen',
          'x-api-key': 'stolen',
          'x-goog-api-key': 'stolen',
          'api-key': 'stolen',
        },
      }),
      wants: ok,
    },
    {
      name: 'environments and command lines of all processes in the guest',
      command: `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -aE '${pieces}' || echo nothing`,
      wants: /^nothing$/m,
    },
    {
      name: 'every file of the guest',
      command: `grep -raElm1 --exclude-dir=proc --exclude-dir=sys '${pieces}' / || echo nothing`,
      wants: /^nothing$/m,
    },
  ];
}

function asAnother({ victimId, victimAddress, attackerAddress, brokerHost }: Stakes): Attempt[] {
  const claims = { 'x-forwarded-for': victimAddress, forwarded: `for=${victimAddress}`, 'x-real-ip': victimAddress };
  const proxied = `PROXY TCP4 ${victimAddress} 10.0.2.2 4321 4000\r\nPOST ${path} HTTP/1.1\r\n\r\n`;
  const proxied2 = '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\x01\x01\x02\x0a\0\x02\x02\x10\xe1\x0f\xa0';
  return [
    { name: "another agent's address in the headers of proxies", ...http({ headers: claims }), wants: ok },
    {
      name: "another agent's id in headers",
      ...http({ headers: { 'x-agent-id': victimId, 'x-lodge-agent': victimId } }),
      wants: ok,
    },
    { name: "another agent's id in the path", ...http({ to: `/agents/${victimId}${path}` }), wants: missing },
    { name: "another agent's provider in the model", ...http({ body: model('victims/test-model') }), wants: ok },
    { name: "another agent's id in the model", ...http({ body: model(`${victimId}/test-model`) }), wants: ok },
    { name: 'the PROXY protocol, first version', ...raw(proxied), wants: bad },
    { name: 'the PROXY protocol, second version', ...raw(proxied2), wants: bad },
    { name: "another agent's address as sender", from: victimAddress, ...http(), wants: noWay },
    { name: 'its own address outside the guest as sender', from: attackerAddress, ...http(), wants: noWay },
    { name: 'a second address of its link as sender', from: '10.0.2.77', ...http(), wants: noWay },
    { name: 'the broker at its address on the host', host: brokerHost, ...http(), wants: noWay },
  ];
}

function toPrivatePlaces({ victimAddress, apiPort }: Stakes): Attempt[] {
  const google = (name: string): string => `/google/v1beta/models/${name}:generateContent`;
  const location = 'http://169.254.169.254/latest/meta-data/';
  return [
    {
      name: 'a provider whose name leads to a private address',
      ...http({ body: model('rebinding/m') }),
      wants: /^HTTP\/1\.1 502 /,
    },
    {
      name: 'a provider that redirects to the metadata service',
      ...http(),
      provider: { status: 307, headers: { location }, raw: { contentType: 'text/plain', body: location } },
      wants: /^HTTP\/1\.1 502 (?![^]*169\.254)/,
    },
    {
      name: 'the broker as a proxy, by CONNECT',
      ...raw('CONNECT 169.254.169.254:80 HTTP/1.1\r\nhost: x\r\n\r\n'),
      wants: /^(HTTP\/1\.1 4\d\d |failure )/,
    },
    {
      name: 'the broker as a proxy, by an absolute URL',
      ...http({ method: 'GET', to: `http://127.0.0.1:${apiPort}/v1/agents`, body: '' }),
      wants: /^HTTP\/1\.1 403 /,
    },
    { name: 'a model that is a URL', ...http({ body: model('http://169.254.169.254/') }), wants: ok },
    {
      name: "a model that leaves its place in the provider's path",
      ...http({ to: google('gemini%2f..%2f..%2fkeys'), body: '{"contents":[]}' }),
      wants: bad,
    },
    {
      name: 'a path that climbs',
      ...http({ to: '/google/v1beta/models/../../../keys:generateContent' }),
      wants: missing,
    },
    {
      name: 'an upgrade to another protocol',
      ...http({ headers: { connection: 'upgrade', upgrade: 'h2c' } }),
      wants: /^(HTTP\/1\.1 (200|4\d\d) |failure )/,
    },
    {
      name: "the host's own API",
      host: '10.0.2.2',
      port: apiPort,
      ...http({ method: 'GET', to: '/v1/agents', body: '' }),
      wants: noWay,
    },
    {
      name: "another agent's guest daemon",
      host: victimAddress,
      port: 8080,
      ...http({ method: 'GET', to: '/v1/health', body: '' }),
      wants: noWay,
    },
    {
      name: 'the metadata service',
      host: '169.254.169.254',
      port: 80,
      ...http({ method: 'GET', to: '/', body: '' }),
      wants: noWay,
    },
  ];
}

function smuggling(): Attempt[] {
  const hidden = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`;
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`;
  return [
    {
      name: 'a length and chunks at once',
      ...raw(`${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`),
      wants: bad,
    },
    {
      name: 'chunks under a name with a space',
      ...raw(`${head}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`),
      wants: bad,
    },
    {
      name: 'chunks and another encoding',
      ...raw(`${head}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`),
      wants: bad,
    },
    {
      name: 'two lengths',
      ...raw(`${head}content-length: 4\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`),
      wants: bad,
    },
    { name: 'a length that is no number', ...raw(`${head}content-length: +${chat.length}\r\n\r\n${chat}`), wants: bad },
    {
      name: 'a chunk of impossible size',
      ...raw(`${head}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n${chat}`),
      wants: bad,
    },
    {
      name: 'a header of two lines',
      ...raw(`${head}x-a: b\n\tauthorization: Bearer stolen\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`),
      wants: bad,
    },
    {
      name: 'a field that is there twice',
      ...http({ body: chat.replace('{', '{"model":"victims/x",') }),
      wants: /^HTTP\/1\.1 400 [^]*duplicate_field/,
    },
    {
      name: 'a field that is there twice under two spellings',
      ...http({ body: chat.replace('{', String.raw`{"mod\u0065l":"victims/x",`) }),
      wants: /^HTTP\/1\.1 400 [^]*duplicate_field/,
    },
    {
      name: 'a request in the body of another',
      ...http({ body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content: hidden }] }) }),
      wants: ok,
    },
    { name: 'HTTP/2', ...raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), wants: bad },
    {
      name: 'headers without end',
      sends: [{ text: head }, { text: 'x-a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n', times: 2000 }],
      wants: /^(HTTP\/1\.1 431 |failure E)/,
    },
    {
      name: 'a body beyond the bound',
      sends: [{ text: `${head}content-length: 99999999\r\n\r\n` }],
      wants: /^HTTP\/1\.1 413 /,
    },
    { name: 'a compressed body', ...http({ headers: { 'content-encoding': 'gzip' } }), wants: bad },
  ];
}
