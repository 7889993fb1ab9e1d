/**
 * Removes secrets from text that is about to be stored: keys and tokens by their known shapes, values by the name they are
 * given, private keys, and passwords in addresses. In doubt it removes. Every pattern takes time in proportion to the text.
 */
import { channelNames, platformOf } from './channels/channel.ts';

export const redacted = '[redacted]';

/** Shapes of credentials of the named issuers, by a prefix that does not stand in the midst of a word. */
const prefixed: readonly RegExp[] = [
  // Lodge
  /lodge_[a-z]{2,12}_[A-Za-z0-9]{8,}/,
  // OpenAI, Anthropic, OpenRouter, DeepSeek; Stripe
  /(?:sk|rk|pk|ek)[-_][A-Za-z0-9_-]{16,}/,
  // Google: API key, OAuth access and refresh token, client secret
  /AIza[A-Za-z0-9_-]{20,}/,
  /ya29\.[A-Za-z0-9_.-]{16,}/,
  /1\/\/0[A-Za-z0-9_-]{20,}/,
  /GOCSPX-[A-Za-z0-9_-]{16,}/,
  // Groq, xAI, Hugging Face, Replicate, Perplexity, NVIDIA, Tavily, Fireworks, Cerebras
  /(?:gsk|hf|r8|fw|csk|xai|pplx|nvapi|tvly|csk)[-_][A-Za-z0-9_-]{16,}/,
  // GitHub, GitLab, npm
  /gh[a-z]_[A-Za-z0-9]{16,}/,
  /github_pat_[A-Za-z0-9_]{16,}/,
  /glpat-[A-Za-z0-9_.-]{16,}/,
  /npm_[A-Za-z0-9]{16,}/,
  // AWS, SendGrid, Standard Webhooks
  /(?:AKIA|ASIA)[A-Z0-9]{16}/,
  /SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/,
  /whsec_[A-Za-z0-9+/=]{16,}/,
  // Messaging platforms
  ...channelNames.flatMap((channel) => platformOf(channel).tokens ?? []),
];

/** Words of letters, digits, `_` and `-` with dots between them: a JSON web token is of this shape. */
const dotted = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*){2,}/g;
/** The beginning of every JSON web token's header. */
const webTokenBegins = /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8}/;
/** A signed token has three words, an encrypted one five. */
const minTokenWords = 3;
const maxTokenWords = 5;

const loose = channelNames.flatMap((channel) => platformOf(channel).looseToken ?? []);
const anyPrefixed = new RegExp(`(?<![A-Za-z0-9])(?:${prefixed.map(({ source }) => source).join('|')})`, 'g');

const keyBegins = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const keyEnds = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const wholeKey = new RegExp(`${keyBegins.source}[^]*?(?:${keyEnds.source}|$)`, 'g');

/** The quotes and the sign between a secret's name and its value. */
const assignment = String.raw`["'\\]{0,4}\s{0,4}(?:=>|[:=])\s{0,4}`;
const name =
  'api[-_ ]?key|[-_]key|apptoken|bottoken|token|secret|password|passwd|passphrase|credentials?|private[-_ ]?key|access[-_ ]?key|session[-_]?id';
const value = String.raw`\\?"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s"',;&)}\]<>]+`;
const field = new RegExp(`((?:${name})${assignment})(${value})`, 'gi');
const inHeader = new RegExp(
  String.raw`((?:proxy-)?authorization${assignment}["'\\]{0,4}(?:[a-z]{1,20}\s{1,4})?)[^\s"',\\]+`,
  'gi',
);
const cookie = new RegExp(String.raw`((?:set-)?cookie${assignment}["'\\]{0,4})[^"'\n\\]+`, 'gi');
const bearer = /\b(bearer\s{1,4})[A-Za-z0-9._~+/=-]{8,}/gi;
const inQuery = /([?&](?:key|sig|signature|code|x-amz-signature|x-goog-signature|access_token)=)[^&\s"'#]+/gi;
const userInfo = /(?<=[a-z0-9+.-]:\/\/)[^\s/@"'<>]{1,256}@/gi;
/** Secrets in speech, such as "the password is hunter2". Words without a digit ("the token is expired") are left. */
const said =
  /\b((?:password|passphrase|passcode|secret|token|api key)\s{1,4}(?:is|was|=)\s{1,4}["'`]?)(?=[^\s]{0,200}[0-9])[^\s"'`]{4,}/gi;

/** Values that hide nothing. A secret that was removed before ends before its bracket when it is a bare value. */
const plainValues = /^(?:null|undefined|none|true|false|\\?["']?\[redacted(?:\]\\?["']?)?)$/i;

export function redact(text: string): string {
  const unprefixed = text.replace(wholeKey, redacted).replace(anyPrefixed, redacted).replace(dotted, withoutWebTokens);
  return loose
    .reduce((rest, shape) => rest.replace(shape, redacted), unprefixed)
    .replace(inHeader, `$1${redacted}`)
    .replace(cookie, `$1${redacted}`)
    .replace(bearer, `$1${redacted}`)
    .replace(field, (whole, before: string, found: string) =>
      plainValues.test(found) ? whole : before + hidden(found),
    )
    .replace(inQuery, `$1${redacted}`)
    .replace(userInfo, `${redacted}@`)
    .replace(said, `$1${redacted}`);
}

/** Removes web tokens from `text`, which consists of words with dots between them. */
function withoutWebTokens(text: string): string {
  if (!text.includes('eyJ')) return text;
  const words = text.split('.');
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const begins = words.length - at < minTokenWords ? -1 : word.search(webTokenBegins);
    kept.push(begins < 0 ? word : word.slice(0, begins) + redacted);
    if (begins >= 0) at += maxTokenWords - 1;
  }
  return kept.join('.');
}

/** Returns the mark with the quotes of the found value, so JSON stays JSON. */
function hidden(found: string): string {
  const [quote = ''] = /^\\?["']/.exec(found) ?? [];
  return quote + redacted + quote;
}

const keyBody = /^[\sA-Za-z0-9+/=:,-]*$/;
const maxKeyLines = 200;

/**
 * Returns a redactor for text that comes line by line. It redacts each line, and returns null for the lines of a private key
 * up to its end.
 */
export function createLineRedactor(): (line: string) => string | null {
  let keyLinesLeft = 0;
  return (line) => {
    if (keyLinesLeft > 0) {
      keyLinesLeft -= 1;
      const end = keyEnds.exec(line);
      if (!end && keyBody.test(line)) return null;
      keyLinesLeft = 0;
      if (end) return redact(line.slice(end.index + end[0].length)) || null;
    }
    const begins = line.search(keyBegins);
    if (begins >= 0 && !keyEnds.test(line.slice(begins))) keyLinesLeft = maxKeyLines;
    return redact(line);
  };
}
