export type Book = { title: string; author: string; year: number };

const BOOKS: Book[] = [
  { title: "Emma", author: "Jane Austen", year: 1815 },
  { title: "Frankenstein", author: "Mary Shelley", year: 1818 },
  { title: "Oliver Twist", author: "Charles Dickens", year: 1838 },
  { title: "Jane Eyre", author: "Charlotte Brontë", year: 1847 },
  { title: "Wuthering Heights", author: "Emily Brontë", year: 1847 },
  { title: "Moby-Dick", author: "Herman Melville", year: 1851 },
  { title: "Walden", author: "Henry David Thoreau", year: 1854 },
  { title: "Little Women", author: "Louisa May Alcott", year: 1868 },
  { title: "Middlemarch", author: "George Eliot", year: 1871 },
  { title: "Treasure Island", author: "Robert Louis Stevenson", year: 1883 },
  { title: "The Time Machine", author: "H. G. Wells", year: 1895 },
  { title: "Dracula", author: "Bram Stoker", year: 1897 },
  { title: "The Awakening", author: "Kate Chopin", year: 1899 },
  { title: "Kim", author: "Rudyard Kipling", year: 1901 },
  { title: "The Jungle", author: "Upton Sinclair", year: 1906 },
  { title: "Howards End", author: "E. M. Forster", year: 1910 },
  { title: "The Secret Garden", author: "Frances Hodgson Burnett", year: 1911 },
  { title: "Dubliners", author: "James Joyce", year: 1914 },
  { title: "The Age of Innocence", author: "Edith Wharton", year: 1920 },
  { title: "Ulysses", author: "James Joyce", year: 1922 },
  { title: "Mrs Dalloway", author: "Virginia Woolf", year: 1925 },
  { title: "Orlando", author: "Virginia Woolf", year: 1928 },
];

const PAGE_SIZE = 8;

/** Yours: a query of a database, with LIMIT and OFFSET. */
export async function findBooks(search: string, page: number) {
  const words = search.toLowerCase().split(/\s+/);
  const found = BOOKS.filter(({ title, author }) =>
    words.every((word) => `${title} ${author}`.toLowerCase().includes(word)),
  );
  const books = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  return { books, count: found.length, pageCount: Math.max(1, Math.ceil(found.length / PAGE_SIZE)) };
}
