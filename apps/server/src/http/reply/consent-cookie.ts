/**
 * The cookie that binds a consent to the browser that agreed to it. Each consent has its own, so that two at once do not
 * mix.
 */

const maxAgeSeconds = 600;
/** The form of `randomToken`. */
const token = /^[\w-]{43}$/;

export interface ConsentCookie {
  /** Set-Cookie with this value. */
  readonly with: (value: string) => string;
  readonly cleared: string;
  /** The value in a Cookie header; null: there is none of the right form. */
  readonly of: (header: string | undefined) => string | null;
}

/** Over https it has a name that browsers accept from no other host, as with sessions. */
export function consentCookie(tag: string, origin: string): ConsentCookie {
  const isSecure = origin.startsWith('https:');
  const name = `${isSecure ? '__Host-' : ''}lodge_consent_${tag}`;
  const rest = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    with: (value) => `${name}=${value}; Max-Age=${maxAgeSeconds}${rest}`,
    cleared: `${name}=; Max-Age=0${rest}`,
    of: (header = '') => {
      const pair = header.split(';').find((each) => each.trimStart().startsWith(`${name}=`));
      const value = pair?.trim().slice(name.length + 1) ?? '';
      return token.test(value) ? value : null;
    },
  };
}
