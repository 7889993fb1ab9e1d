/** The form of a connection, as the API takes it. */
import type { Connection, ConnectionAllow, PutConnection } from '@lodge/sdk';
import { text } from '../../../components/form/use-form.ts';
import type { Problems } from '../../../components/form/use-form.ts';
import { linesOf } from '../channels/access-form.ts';

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export const mostHeaders = 8;
export const mostAllowed = 32;
export const mostSecrets = 8;

export type AuthKind = 'none' | 'headers' | 'secrets' | 'oauth';
type Method = (typeof methods)[number];

/** The rows of a list whose fields end in their numbers. */
const rowsOf = (data: FormData, field: string): string[] =>
  [...data.keys()].filter((key) => key.startsWith(`${field}_`)).map((key) => key.slice(field.length + 1));

export const allowOf = (data: FormData): ConnectionAllow[] =>
  rowsOf(data, 'paths').map((row) => ({
    methods: data.getAll(`methods_${row}`) as Method[],
    paths: linesOf(text(data, `paths_${row}`)),
  }));

const headersOf = (data: FormData): Record<string, string> =>
  Object.fromEntries(
    rowsOf(data, 'header_name')
      .map((row) => [text(data, `header_name_${row}`).trim(), text(data, `header_value_${row}`)] as const)
      .filter(([name]) => name !== ''),
  );

const secretsOf = (data: FormData): NonNullable<PutConnection['secrets']> =>
  Object.fromEntries(
    rowsOf(data, 'secret_name')
      .map((row) => {
        const headers = text(data, `secret_header_${row}`).split(/[\s,]/);
        const secret = { value: text(data, `secret_value_${row}`), in: headers.filter((name) => name !== '') };
        return [text(data, `secret_name_${row}`).trim(), secret] as const;
      })
      .filter(([name]) => name !== ''),
  );

export function checkConnection(data: FormData): Problems<string> {
  const problems: Problems<string> = {};
  if (data.has('name') && !/^[a-z][a-z0-9-]{0,31}$/.test(text(data, 'name'))) {
    problems['name'] = 'Use lower case letters, digits and hyphens, a letter first.';
  }
  const isHost = text(data, 'kind') === 'host';
  if (isHost && linesOf(text(data, 'hosts')).length === 0) problems['hosts'] = 'Enter a name, such as api.github.com.';
  if (!isHost && !/^https?:\/\/[^\s/]/.test(text(data, 'url').trim()))
    problems['url'] = 'Enter an address with https://.';
  for (const row of rowsOf(data, 'paths')) {
    if (data.getAll(`methods_${row}`).length === 0) problems[`methods_${row}`] = 'Choose a method.';
    if (linesOf(text(data, `paths_${row}`)).length === 0) problems[`paths_${row}`] = 'Enter a path, such as /notes/*.';
  }
  for (const row of rowsOf(data, 'header_name')) {
    const [name, value] = [text(data, `header_name_${row}`).trim(), text(data, `header_value_${row}`)];
    if (name !== '' && value === '') problems[`header_value_${row}`] = 'Enter the value.';
    if (name === '' && value !== '') problems[`header_name_${row}`] = 'Enter the name.';
  }
  for (const row of rowsOf(data, 'secret_name')) checkSecret(data, row, problems);
  const hasSecret = text(data, 'client_secret').trim() !== '';
  if (hasSecret && text(data, 'client_id').trim() === '') problems['client_id'] = 'A secret is of a client: enter it.';
  if (text(data, 'kind') !== 'mcp' && text(data, 'auth') === 'oauth') checkNamedServer(data, problems);
  return problems;
}

function checkSecret(data: FormData, row: string, problems: Problems<string>): void {
  const [name, value] = [text(data, `secret_name_${row}`).trim(), text(data, `secret_value_${row}`)];
  if (name === '') problems[`secret_name_${row}`] = 'Enter the name of a variable, such as GITHUB_TOKEN.';
  if (value.length < 8) problems[`secret_value_${row}`] = 'Enter the value, of 8 characters or more.';
  if (text(data, `secret_header_${row}`).trim() === '')
    problems[`secret_header_${row}`] = 'Enter a header, such as authorization.';
}

function checkNamedServer(data: FormData, problems: Problems<string>): void {
  if (text(data, 'client_id').trim() === '') problems['client_id'] = 'Enter the id of your client.';
  for (const field of ['authorization_url', 'token_url']) {
    if (!/^https?:\/\/[^\s/]/.test(text(data, field).trim())) problems[field] = 'Enter an address with https://.';
  }
}

/** The access by OAuth; a stored secret stays where none is given. */
function authOf(data: FormData, kind: Connection['kind'], before: Connection | undefined): PutConnection['auth'] {
  const optional = (name: string): string | null => {
    const value = text(data, name).trim();
    return value === '' ? null : value;
  };
  const [clientId, secret] = [optional('client_id'), optional('client_secret')];
  const isSame = clientId !== null && before?.auth?.client_id === clientId;
  const named = {
    authorization_url: optional('authorization_url'),
    token_url: optional('token_url'),
    client_auth: data.has('secret_in_body') ? ('client_secret_post' as const) : null,
  };
  return {
    kind: 'oauth',
    client_id: clientId,
    scope: optional('scope'),
    ...(kind !== 'mcp' && named),
    ...(secret === null ? (isSame ? {} : { client_secret: null }) : { client_secret: secret }),
  };
}

export function connectionOf(data: FormData, before: Connection | undefined): PutConnection {
  const kind = text(data, 'kind') as Connection['kind'];
  const url = text(data, 'url').trim();
  const enabled = data.has('enabled');
  const auth = text(data, 'auth') as AuthKind;
  const gives = auth === 'headers' && (before === undefined || data.has('replace_headers'));
  if (kind === 'host') {
    const givesSecrets = auth === 'secrets' && (before === undefined || data.has('replace_secrets'));
    return {
      kind,
      enabled,
      hosts: linesOf(text(data, 'hosts')),
      allow: allowOf(data),
      auth: auth === 'oauth' ? authOf(data, kind, before) : null,
      ...(auth !== 'secrets' ? { secrets: {} } : givesSecrets && { secrets: secretsOf(data) }),
    };
  }
  const headers = auth === 'headers' ? (gives ? { headers: headersOf(data) } : {}) : { headers: {} };
  const access = { ...headers, auth: auth === 'oauth' ? authOf(data, kind, before) : null };
  if (kind === 'http') return { kind, url, enabled, allow: allowOf(data), ...access };
  const tools = linesOf(text(data, 'tools'));
  return {
    kind,
    url,
    enabled,
    tools: tools.length === 0 ? null : tools,
    ...access,
  };
}
