import { scopePattern } from '@lodge/domain';

/** Patterns in schemas, with what a client is told that broke one. */
export const patterns = {
  /** Anything that a database's text can hold: no NUL, no half of a surrogate pair. */
  text: '^[^\\u0000\\ud800-\\udfff]*$',
  /** What can stand in an HTTP header: a provider's key ends up there. */
  token: '^[\\u0021-\\u007e]+$',
  /** Of one host: no second slash, which would name another one, and no backslash, which browsers read as one. */
  localPath: '^/(?!/)[\\u0021-\\u005b\\u005d-\\u007e]*$',
  /** As lists give them: base64url, its parts joined by dots. */
  cursor: '^[\\w.-]+$',
  agentId: '^[a-z][a-z0-9]{11}$',
  /** An agent, or all. */
  peer: '^(?:\\*|[a-z][a-z0-9]{11})$',
  /** Not those that a runtime has a meaning of its own for. */
  memberName: '^(?!(?:main|default|openclaw)$)[a-z][a-z0-9-]{0,30}[a-z0-9]$',
  phoneNumber: '^\\+?[1-9]\\d{6,14}$',
  /** Of the web, in printable ASCII: what a page can lead on to. */
  webUrl: '^https?://[\\u0021\\u0023-\\u003b\\u003d\\u003f-\\u005b\\u005d\\u005f\\u0061-\\u007a\\u007e]+$',
  /** Types of events, by name or by family. */
  eventPattern: '^(?:\\*|[a-z_]{1,40}\\.(?:\\*|[a-z_]{1,40}))$',
  headerName: '^[A-Za-z0-9-]+$',
  /** Of a header: printable ASCII, no space at either end. */
  headerValue: '^[\\u0021-\\u007e](?:[\\u0020-\\u007e]*[\\u0021-\\u007e])?$',
  /** Words of OAuth, one space between two. */
  scope: scopePattern,
  /** An amount of money: more than nothing, exact to the micro-dollar. */
  usd: '^(?!0(\\.0*)?$)(0|[1-9]\\d{0,8})(\\.\\d{1,6})?$',
  /** RFC 3339; whether the day exists is checked as the format `date-time`. */
  timestamp: '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$',
} as const;
