/** The body of a connection's request, from the options of `lodge connections set`. */
import type { ConnectionAllow, PutConnection } from '@lodge/sdk';
import { usageError } from '../failure.ts';
import type { Run } from '../run.ts';
import { readSecret } from '../secrets.ts';
import { quoted } from '../terminal/safe.ts';
import { readObject } from '../values.ts';

export interface ConnectionSettings {
  readonly kind?: 'mcp' | 'http';
  readonly address?: string;
  readonly header?: readonly string[];
  readonly allow?: readonly string[];
  readonly tool?: readonly string[];
  readonly oauth?: true;
  readonly enabled?: 'yes' | 'no';
  readonly input?: string;
}

export async function connectionBody(run: Run, settings: ConnectionSettings): Promise<PutConnection> {
  const { kind, address, header, allow, tool, oauth, enabled, input } = settings;
  const body = {
    ...(input !== undefined && (await readObject(run, input))),
    ...(kind !== undefined && { kind }),
    ...(address !== undefined && { url: address }),
    ...(allow !== undefined && { allow: allow.map(allowOf) }),
    ...(tool !== undefined && { tools: tool }),
    ...(oauth && { auth: { kind: 'oauth' as const } }),
    ...(enabled !== undefined && { enabled: enabled === 'yes' }),
    ...(header !== undefined && { headers: await headersOf(run, header) }),
  } as Partial<PutConnection>;
  // Hosts and their secrets are given as a whole, by --input.
  if (body.kind === undefined || (body.kind !== 'host' && body.url === undefined))
    throw usageError('--kind and --address are needed.');
  return body as PutConnection;
}

async function headersOf(run: Run, sources: readonly string[]): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const each of sources) {
    const at = each.indexOf('=');
    const name = at < 0 ? each : each.slice(0, at);
    const source = at < 0 ? undefined : each.slice(at + 1);
    headers[name] = await readSecret(run, source, `Header ${quoted(name)}:`, `--header ${quoted(name)}=`);
  }
  return headers;
}

/** `GET,POST /repos/*` is two methods and a path. */
function allowOf(text: string): ConnectionAllow {
  const [methods, ...paths] = text.split(' ').filter((word) => word !== '');
  if (methods === undefined || paths.length === 0)
    throw usageError(`--allow ${quoted(text)} needs methods and a path, such as "GET,POST /repos/*".`);
  return { methods: methods.split(',') as unknown as ConnectionAllow['methods'], paths };
}
