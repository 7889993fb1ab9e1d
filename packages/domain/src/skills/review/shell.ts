/** Finds lines by which a shell would run what somebody else sends, or what the line hides. */
import type { Found } from './finding.ts';

const fetches = /\b(?:curl|wget|fetch|aria2c|httpie|lwp-download)\b/i;
const decodes =
  /\bbase64\s{1,8}(?:-d|-D|--decode|-di)\b|\bxxd\s{1,8}-r\b|\bopenssl\s{1,8}(?:base64|enc)\b|\bbase32\s{1,8}(?:-d|--decode)\b|\b(?:gunzip|zcat|uudecode)\b/;
const substitutes = /(?:\$\(|<\(|`)\s{0,8}(?:sudo\s{1,8})?(?:curl|wget)\b/i;
const runsText = /\b(?:(?:ba|z|da|k)?sh|eval|source|python[0-9.]{0,5}|node|perl|ruby)\b|^\s{0,80}\.\s/i;
const invokes = /\b(?:iex|invoke-expression)\b/i;
const requests = /\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile|net\.webclient)\b/i;
const evaluates = /\b(?:exec|eval|compile|function)\s{0,4}\(/i;
const getsText = /\b(?:requests\.get|urlopen|urllib\.request|httpx\.get|axios|https?\.get)\b|\bfetch\s{0,4}\(/i;
const decodesText =
  /\batob\s{0,4}\(|\b(?:b64decode|frombase64string|bytes\.fromhex|unhexlify|string\.fromcharcode|decodeuricomponent|zlib\.decompress|marshal\.loads)\b|,\s{0,4}['"](?:base64|hex)['"]/i;
const encodedCommand = /\b(?:pwsh|powershell)(?:\.exe)?\b[^|]{0,200}\s-(?:e|ec|enc|encodedcommand)\s/i;

const download = (message: string): Found => ({ severity: 'high', rule: 'download_to_shell', message });
const encoded = (message: string): Found => ({ severity: 'high', rule: 'encoded_payload', message });

/** Reads one line of commands; lines that end with a backslash were joined. */
export function shellFindings(line: string): Found[] {
  const found: Found[] = [];
  if (line.includes('|')) found.push(...pipeFindings(line));
  if (substitutes.test(line) && runsText.test(line)) {
    found.push(download('a shell runs what a command downloads'));
  }
  if (invokes.test(line) && requests.test(line)) found.push(download('PowerShell runs what it downloads'));
  if (evaluates.test(line)) {
    if (getsText.test(line)) found.push(download('a program runs text that it downloads'));
    if (decodesText.test(line)) found.push(encoded('a program runs text that it decodes'));
  }
  if (encodedCommand.test(line)) found.push(encoded('PowerShell runs a command that is encoded'));
  return found;
}

/** Follows a pipe: what an earlier command downloads or decodes, and a later one runs. */
function pipeFindings(line: string): Found[] {
  let isDownloaded = false;
  let isDecoded = false;
  for (const part of line.split('|')) {
    if (runsInput(part)) {
      if (isDownloaded) return [download('a download is piped to a program that runs it')];
      if (isDecoded) return [encoded('decoded text is piped to a program that runs it')];
    }
    isDownloaded ||= fetches.test(part);
    isDecoded ||= decodes.test(part);
  }
  return [];
}

/** Words before a command that change how it runs, and not what. */
const wrappers = new Set(['sudo', 'env', 'nohup', 'exec', 'command', 'time', 'doas', 'nice', 'xargs']);
const runners =
  /^(?:(?:ba|z|da|k|fi|a)?sh|python[0-9.]{0,5}|node|perl|ruby|php|bun|deno|source|iex|invoke-expression|pwsh|powershell)(?:\.exe)?$/i;

/** Whether a command is a program that runs the text which it reads. */
function runsInput(command: string): boolean {
  for (const word of command
    .slice(0, 400)
    .trim()
    .split(/[\s;&)]+/)) {
    const name = word.slice(word.lastIndexOf('/') + 1);
    if (runners.test(name)) return true;
    if (!wrappers.has(name) && !word.startsWith('-') && !word.includes('=')) return false;
  }
  return false;
}
