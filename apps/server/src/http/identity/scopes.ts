import { Refusal } from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import type { PrincipalSource } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';

/** Refuses with 403 a key or role that has none of the scopes the route takes, and a key where the route takes a session alone. */
export function checkScope(request: FastifyRequest): void {
  const { scopes, keyScope, wakeScope, sessionOnly } = request.routeOptions.config;
  const { principal } = request;
  if (sessionOnly && principal.by.kind !== 'session') {
    throw new Refusal(
      'insufficient_scope',
      'No API key may do this, whatever its scopes: sign in to the account area.',
    );
  }
  const has = (scope: Scope): boolean => principal.scopes.includes(scope);
  if (scopes && !scopes.some(has)) {
    throw new Refusal('insufficient_scope', `${ownerOf(principal.by)} lacks the scope ${scopes.join(' or ')}.`);
  }
  if (keyScope && principal.by.kind === 'api_key' && !has(keyScope)) {
    throw new Refusal('insufficient_scope', `${ownerOf(principal.by)} lacks the scope ${keyScope}.`);
  }
  if (wakeScope && !has(wakeScope) && (request.query as { readonly wake?: unknown }).wake === 'true') {
    throw new Refusal('insufficient_scope', `${ownerOf(principal.by)} lacks the scope ${wakeScope}, which wake takes.`);
  }
}

const ownerOf = ({ kind }: PrincipalSource): string => (kind === 'session' ? 'Your role' : 'This API key');
