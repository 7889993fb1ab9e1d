import { Refusal } from '@lodge/domain';
import type { NewPerson } from '@lodge/ports';

/** Bounds of the account area's contract. */
const bounds = { name: 100, email: 254, shortestPassword: 12, longestPassword: 256 } as const;

/** One form for each address, so that it is found again however it was typed. */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** What is stored of a person: trimmed, in one form, within bounds. Throws `Refusal` naming the field. */
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

/** Length is what makes a password hard to guess; what an attacker would try first is refused beside. */
export function checkPassword(field: string, password: string, email: string | null): void {
  const { shortestPassword, longestPassword } = bounds;
  if (password.length < shortestPassword || password.length > longestPassword) {
    throw new Refusal('invalid_request', `${field} must have ${shortestPassword} to ${longestPassword} characters.`);
  }
  const isGuessable = new Set(password).size < 4 || password.toLowerCase() === email;
  if (isGuessable) throw new Refusal('invalid_request', `${field} is too easy to guess.`);
}
