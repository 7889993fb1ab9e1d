import { sessionLifetime } from '@lodge/engine/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AreaContext } from './area.ts';

/**
 * Over https the name has a prefix by which browsers refuse the cookie from any other host: agents have addresses below
 * ours, and what they serve could else set it.
 */
const nameOf = (isSecure: boolean): string => (isSecure ? '__Host-lodge_session' : 'lodge_session');

const isSecure = ({ origin }: AreaContext): boolean => origin().startsWith('https:');

/** The session's token, or null when the request brings none. */
export function readSession(context: AreaContext, request: FastifyRequest): string | null {
  return request.cookies[nameOf(isSecure(context))] ?? null;
}

export function writeSession(context: AreaContext, reply: FastifyReply, token: string): void {
  setCookie(context, reply, token, sessionLifetime.absoluteSeconds);
}

export function clearSession(context: AreaContext, reply: FastifyReply): void {
  setCookie(context, reply, '', 0);
}

function setCookie(context: AreaContext, reply: FastifyReply, value: string, maxAge: number): void {
  const secure = isSecure(context);
  reply.setCookie(nameOf(secure), value, { httpOnly: true, sameSite: 'lax', path: '/', secure, maxAge });
}
