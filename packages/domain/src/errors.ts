import type { ErrorKind } from './error-kind.ts';
import { resourceErrors } from './resources.ts';

/** Every error code with its HTTP status and type. Codes are stable; more may come within v1. */
export const errorCodes = {
  invalid_request: { status: 400, meaning: 'A field or parameter is missing, unknown or wrong; the message names it.' },
  authorization_pending: {
    status: 400,
    meaning: 'Nobody has decided about this device code yet (RFC 8628): ask again after the interval.',
  },
  slow_down: {
    status: 400,
    meaning: 'As `authorization_pending`, and it was asked too soon: from now on wait 5 s longer (RFC 8628).',
  },
  access_denied: { status: 400, meaning: 'The person refused, or may give none of what was asked for.' },
  expired_token: { status: 400, meaning: 'Nobody decided about this device code in time (RFC 8628).' },
  invalid_grant: {
    status: 400,
    meaning: 'This code or token is none, was used, has expired, or belongs to another client (RFC 6749).',
  },
  invalid_client: {
    status: 400,
    meaning: 'No such OAuth client is registered here, or what it says of itself is wrong (RFC 6749).',
  },
  invalid_redirect_uri: {
    status: 400,
    meaning: 'The redirect address is none that the client registered, or none that a client may register (RFC 7591).',
  },
  invalid_target: { status: 400, meaning: 'The `resource` is none of this service (RFC 8707).' },
  invalid_scope: { status: 400, meaning: 'A scope is unknown, or beyond what was granted (RFC 6749).' },
  unsupported_grant_type: {
    status: 400,
    meaning: 'The `grant_type` is none of those that the metadata lists (RFC 6749).',
  },
  invalid_json: { status: 400, meaning: 'The body is not JSON.' },
  missing_api_key: { status: 401, meaning: 'No API key was sent.' },
  invalid_api_key: { status: 401, meaning: 'No such API key exists.' },
  revoked_api_key: { status: 401, meaning: 'The API key was revoked.' },
  expired_api_key: { status: 401, meaning: 'The API key has expired.' },
  not_signed_in: { status: 401, meaning: 'Nobody is signed in, or the session has ended.' },
  invalid_credentials: { status: 401, meaning: 'E-mail or password is wrong; which one is not said.' },
  second_factor_required: { status: 401, meaning: 'The account has a second factor: send its code too.' },
  invalid_code: { status: 401, meaning: 'The code of the second factor is wrong.' },
  invalid_signature: { status: 401, meaning: "The request's signature is missing, old or wrong: nothing was taken." },
  insufficient_scope: {
    status: 403,
    meaning:
      'The API key, or the role of who is signed in, lacks the scope that the message names; or no API key may do this.',
  },
  csrf_refused: {
    status: 403,
    meaning:
      'A request by a session came from another page than ours, or a change without its CSRF token; or a page of an unknown origin asked the MCP server.',
  },
  owner_only: { status: 403, meaning: 'Only an owner of the deployment may do this.' },
  registration_closed: { status: 403, meaning: 'Nobody can make an account here without an invitation.' },
  agent_not_found: { status: 404, meaning: 'The account has no such agent.' },
  member_not_found: { status: 404, meaning: 'The agent has no such member.' },
  port_not_found: { status: 404, meaning: 'This port of the agent is not published.' },
  llm_call_not_found: { status: 404, meaning: 'The agent made no such model call.' },
  file_not_found: {
    status: 404,
    meaning: "Nothing is at this path of the agent's workspace, or of the skill's version.",
  },
  link_not_valid: { status: 404, meaning: 'The link was used, has expired or never was one.' },
  session_not_found: { status: 404, meaning: 'The account has no such session.' },
  key_not_found: { status: 404, meaning: 'The account has no such API key.' },
  device_code_not_found: {
    status: 404,
    meaning: 'No machine waits with this code: it is wrong, was decided about, or has expired.',
  },
  grant_not_found: { status: 404, meaning: 'The account gave no such access.' },
  invitation_not_found: { status: 404, meaning: 'There is no such open invitation.' },
  account_not_found: { status: 404, meaning: 'The deployment has no such account.' },
  route_not_found: { status: 404, meaning: 'Nothing is at this path.' },
  method_not_allowed: { status: 405, meaning: 'The path takes other methods; the header Allow lists them.' },
  member_exists: { status: 409, meaning: 'The agent has a member of this name.' },
  email_taken: { status: 409, meaning: 'Another account has this e-mail.' },
  agent_not_running: { status: 409, meaning: 'The agent must run for this, and it does not.' },
  agent_transitioning: {
    status: 409,
    meaning: 'Another change of the agent is under way; try again once it has ended.',
  },
  agent_busy: {
    status: 409,
    meaning: 'The agent is at work and did not end its turn in time; Retry-After says when to try again.',
  },
  agent_not_resumable: { status: 409, meaning: 'The agent is in error: it can be started or restarted, not resumed.' },
  agent_outdated: { status: 409, meaning: 'The agent runs on an image from before this was there; upgrade it.' },
  file_conflict: {
    status: 409,
    meaning: 'What is at the path is of another kind than is needed for this; the message says more.',
  },
  disk_full: { status: 409, meaning: "The agent's disk is full; nothing was written." },
  idempotency_key_reused: {
    status: 409,
    meaning: 'The Idempotency-Key came with another request before, or with one whose reply is not kept.',
  },
  idempotency_in_progress: { status: 409, meaning: 'The first request with this Idempotency-Key is still under way.' },
  precondition_failed: {
    status: 412,
    meaning: 'What If-Match or If-None-Match asks for does not hold: it has changed since; nothing was changed.',
  },
  request_too_large: {
    status: 413,
    meaning:
      'The body is larger than 1 MiB, a file or a part of one than 64 MiB, a file that comes in parts than 64 GiB, an archive of a skill than 9 MiB, or what is sent to a hook than 256 KiB.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not sent as application/json, or as what the route takes instead.',
  },
  range_not_satisfiable: {
    status: 416,
    meaning: 'The file has no such bytes; the header Content-Range says how many it has.',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'Too many requests, to this service or to the LLM provider; the message says which.',
  },
  spend_limit_exceeded: {
    status: 429,
    meaning: 'A spend limit of the agent or its account is reached; Retry-After says when its window ends.',
  },
  loop_detected: {
    status: 429,
    meaning: 'The turn was cut: the agent asked its model the same over and over, or too often.',
  },
  quota_exceeded: { status: 429, meaning: "The account's quota is used up." },
  internal_error: { status: 500, meaning: 'Something failed that the client cannot change.' },
  provisioning_failed: {
    status: 500,
    meaning: 'The agent was made but did not start; it is in error, and the header X-Agent-Id names it.',
  },
  insufficient_capacity: {
    status: 503,
    meaning: 'This deployment has no room for the agent, of which nothing was made, or more to do than it can.',
  },
  agent_unavailable: {
    status: 503,
    meaning: 'The agent is running but does not answer at the moment, or took too long.',
  },
  ...resourceErrors,
} as const satisfies Readonly<Record<string, ErrorKind>>;
export type ErrorCode = keyof typeof errorCodes;
