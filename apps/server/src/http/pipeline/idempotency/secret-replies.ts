/**
 * Replies that hold a secret: no Idempotency-Key keeps one, because kept replies lie in the database in the clear and are
 * sent again.
 */
import { Refusal } from '@lodge/domain';
import type { FastifyContextConfig, FastifyRequest, RouteOptions } from 'fastify';

/**
 * Names of fields that hold a secret wherever their value is a text. Names that only end like one (`total_tokens`) do not
 * match.
 */
const secretNames = /(?:^|_)(?:secret|token|password|key|code|qr|qr_png|recovery_codes|authorization_url|otpauth_url)$/;
/** Texts of such a name that are no secrets: codes of errors and of programs, and the model's answer. */
const plainNames: readonly string[] = ['code', 'exit_code'];

/**
 * Throws if a POST may answer with a secret and does not declare `secretReply`. Routes with `sessionOnly`, and public ones,
 * accept no Idempotency-Key at all.
 */
export function checkSecretReply({ method, url, schema, config }: RouteOptions): void {
  const { secretReply, sessionOnly, public: isPublic }: FastifyContextConfig = config ?? {};
  if (!String(method).includes('POST') || secretReply || sessionOnly || isPublic) return;
  const name = secretIn(schema?.response);
  if (name !== null) throw new Error(`POST ${url} answers with ${name}: its config needs secretReply`);
}

/** The first field of a secret's name in the replies of a route, by status; null: none. Errors have none of their own. */
function secretIn(replies: unknown): string | null {
  for (const [status, schema] of Object.entries(replies ?? {})) {
    const found = Number(status) < 300 ? secretOf(schema) : null;
    if (found !== null) return found;
  }
  return null;
}

function secretOf(schema: unknown): string | null {
  if (typeof schema !== 'object' || schema === null) return null;
  const { properties } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (secretNames.test(name) && !plainNames.includes(name) && isText(value)) return name;
  }
  for (const inner of Object.values(schema)) {
    const found = secretOf(inner);
    if (found !== null) return found;
  }
  return null;
}

/** Also as a member of a union, or of an array. */
function isText(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { type, anyOf, items } = schema as { type?: unknown; anyOf?: readonly unknown[]; items?: unknown };
  if (type === 'object') return false;
  return [type].flat().includes('string') || (anyOf ?? []).some(isText) || isText(items);
}

/** Refuses if an earlier attempt of the same request was executed. `mend` says in a sentence how the client continues. */
export function refuseLostSecret(request: FastifyRequest, mend: string): void {
  if (!request.idempotent?.effective) return;
  const words = 'The request with this Idempotency-Key was carried out, and its reply was lost with the secret.';
  throw new Refusal('idempotency_key_reused', `${words} ${mend}`);
}
