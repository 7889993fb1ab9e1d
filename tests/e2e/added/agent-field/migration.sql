alter table agents add column nickname text check (char_length(nickname) between 1 and 40);
