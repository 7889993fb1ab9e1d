import { scopePattern } from '@lodge/domain';

/** Patterns in schemas, each with the message for a client that broke it. */
export const patterns = {
  /** Any text that the database can store: no NUL and no half of a surrogate pair. */
  text: '^[^\\u0000\\ud800-\\udfff]*$',
  /** A value for an HTTP header, where a provider's key ends up. */
  token: '^[\\u0021-\\u007e]+$',
  /**
   * A path on the same host. It has no second slash, which would name another host, and no backslash, which browsers read as
   * a slash.
   */
  localPath: '^/(?!/)[\\u0021-\\u005b\\u005d-\\u007e]*$',
  /** A cursor of a list: base64url, its parts joined by dots. */
  cursor: '^[\\w.-]+$',
  agentId: '^[a-z][a-z0-9]{11}$',
  /** An agent's id, or `*` for all agents. */
  peer: '^(?:\\*|[a-z][a-z0-9]{11})$',
  /** A member's name, without names that mean something to a runtime. */
  memberName: '^(?!(?:main|default|openclaw)$)[a-z][a-z0-9-]{0,30}[a-z0-9]$',
  /** A label's key; dots and slashes join words, as in `example.com/team`. */
  labelKey: '^[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$',
  /** An upload's id, which the client chooses. */
  uploadId: '^[A-Za-z0-9_-]{16,64}$',
  /** A number of bytes in a header. */
  bytes: '^\\d{1,15}$',
  phoneNumber: '^\\+?[1-9]\\d{6,14}$',
  /** A web address in printable ASCII to which a page may lead. */
  webUrl: '^https?://[\\u0021\\u0023-\\u003b\\u003d\\u003f-\\u005b\\u005d\\u005f\\u0061-\\u007a\\u007e]+$',
  /** Types of events, by name or by family. */
  eventPattern: '^(?:\\*|[a-z_]{1,40}\\.(?:\\*|[a-z_]{1,40}))$',
  headerName: '^[A-Za-z0-9-]+$',
  /** A header's value: printable ASCII without spaces at either end. */
  headerValue: '^[\\u0021-\\u007e](?:[\\u0020-\\u007e]*[\\u0021-\\u007e])?$',
  /** Words of OAuth with one space between two. */
  scope: scopePattern,
  /** A positive amount of money, exact to the micro-dollar. */
  usd: '^(?!0(\\.0*)?$)(0|[1-9]\\d{0,8})(\\.\\d{1,6})?$',
  /** A skill's name at a hub: words with slashes between them. */
  hubSlug: '^[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*){0,2}$',
  /** RFC 3339; the format `date-time` checks whether the day exists. */
  timestamp: '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$',
} as const;
