import { Refusal } from '@lodge/domain';

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Bounds of the account area's contract. */
const bounds = { name: 100, email: 254, shortestPassword: 12, longestPassword: 256 } as const;

/** Brings an address into one form, so that it is found again however somebody typed it. */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** Returns a person's data as it is stored: trimmed, in one form, within bounds. Throws a `Refusal` that names the field. */
export function checkPerson(person: NewPerson): NewPerson {
  const email = checkEmail(person.email);
  const name = person.name.trim();
  if (name === '' || name.length > bounds.name) {
    throw new Refusal('invalid_request', `name must have 1 to ${bounds.name} characters.`);
  }
  checkPassword('password', person.password, email);
  return { email, name, password: person.password };
}

export function checkEmail(given: string): string {
  const email = normaliseEmail(given);
  if (email.length > bounds.email || !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new Refusal('invalid_request', 'email must be an e-mail address.');
  }
  return email;
}

/**
 * Checks a password. Length makes a password hard to guess; the passwords that an attacker would try first are refused as
 * well.
 */
export function checkPassword(field: string, password: string, email: string | null): void {
  const { shortestPassword, longestPassword } = bounds;
  if (password.length < shortestPassword || password.length > longestPassword) {
    throw new Refusal('invalid_request', `${field} must have ${shortestPassword} to ${longestPassword} characters.`);
  }
  const isGuessable = new Set(password).size < 4 || password.toLowerCase() === email;
  if (isGuessable) throw new Refusal('invalid_request', `${field} is too easy to guess.`);
}
