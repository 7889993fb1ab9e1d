/**
 * Reviews a skill by rules, each of which takes time in proportion to the text. A review finds what is known and careless. It
 * proves nothing: the text of a skill is an instruction to a model, whatever no rule finds in it.
 */
import { redact, redacted } from '../../redact.ts';
import { characterFindings, encodedFindings } from './characters.ts';
import { fileFindings } from './files.ts';
import { Findings } from './finding.ts';
import type { Found, SkillFinding } from './finding.ts';
import { shellFindings } from './shell.ts';

export interface ReviewedFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** A longer line is read in pieces of this length. */
const pieceChars = 16 * 1024;

export function reviewSkill(files: readonly ReviewedFile[]): SkillFinding[] {
  const findings = new Findings();
  for (const { path, content } of files) {
    const add = (line: number | null, all: readonly Found[]): void => {
      for (const found of all) findings.add(path, line, found);
    };
    add(null, fileFindings(content));
    reviewText(textOf(content), add);
  }
  return findings.list();
}

function reviewText(text: string, add: (line: number, found: readonly Found[]) => void): void {
  const lines = text.split(/\r\n|\n|\r/);
  let command = '';
  let commandLine = 0;
  for (const [index, whole] of lines.entries()) {
    const number = index + 1;
    for (let at = 0; at === 0 || at < whole.length; at += pieceChars) {
      const line = whole.slice(at, at + pieceChars);
      // The first character of a file may say how it is encoded.
      add(number, characterFindings(number === 1 && at === 0 ? line.replace(/^\ufeff/, '') : line));
      add(number, encodedFindings(line));
      add(number, credentialFindings(line));
      if (command === '') commandLine = number;
      command = (command + line).slice(0, 2 * pieceChars);
      if (command.endsWith('\\') && index + 1 < lines.length) command = `${command.slice(0, -1)} `;
      else {
        add(commandLine, shellFindings(command));
        command = '';
      }
    }
  }
}

/** Files in which secrets of a machine or its people are. */
const secretFile =
  /(?:~|\$HOME|\/root|\/home\/\S{1,32})\/\.(?:ssh\/(?:id_[a-z0-9]{1,16}|authorized_keys)|aws\/credentials|netrc|git-credentials|kube\/config|docker\/config\.json|npmrc|pypirc|gnupg)\b|\/etc\/shadow\b|\/run\/secrets\//;

function credentialFindings(line: string): Found[] {
  const found: Found[] = [];
  if (secretFile.test(line)) {
    found.push({ severity: 'medium', rule: 'credential_file', message: 'names a file in which secrets are' });
  }
  if (mayHoldKey.test(line) && redact(keysOf(line)).includes(redacted)) {
    found.push({ severity: 'medium', rule: 'credential', message: 'has what looks like a key, a token or a password' });
  }
  return found;
}

/** A line without one of these has no key of a known form. */
const mayHoldKey = /[A-Za-z0-9][-_.][A-Za-z0-9]|PRIVATE KEY|AKIA|ASIA|AIza/;
/** The words that are as long as a key. Names of fields are left out: instructions speak of tokens and passwords. */
const keysOf = (line: string): string =>
  line.includes('PRIVATE KEY')
    ? line
    : line
        .split(/[\s"'`,;()<>{}[\]=]+/)
        .filter((word) => word.length >= 20 && /[0-9]/.test(word) && /[A-Za-z]/.test(word) && !word.includes('://'))
        .join('\n');

/** Scripts for Windows may be in UTF-16. In any other bytes the texts that are there are found all the same. */
function textOf(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}
