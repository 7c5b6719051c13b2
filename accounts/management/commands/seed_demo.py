import io
import secrets
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import CommandError
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from PIL import Image, ImageDraw

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services.staff import create_user, find_role, issue_user_token, set_role
from accounts.models import User
from accounts.policies.staff import OPERATOR
from social.management.base import OperatorCommand
from social.settings.env import is_loopback

#: username, display name, biography, colour of the pictures
PEOPLE = (
    ("demo", "Demo", "Runs this server.", "#2f6690"),
    ("amira", "Amira Haddad", "Bakes bread, mostly rye. #baking", "#c8553d"),
    ("jonas", "Jonas Weber", "Trains, maps and the occasional lake. #trains", "#588157"),
    ("mei", "Mei Lin", "Photographs of things that stand still. #photography", "#7b2cbf"),
    ("tomas", "Tomás Silva", "Learning Python in public. #python", "#ee9b00"),
    ("nora", "Nora Lindqvist", "Librarian. Ask me about dinosaurs. #books", "#006d77"),
    ("spammer", "BEST PRICES", "Click the link in my posts!!!", "#d00000"),
)
#: author, text, number of pictures, other parameters
POSTS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("nora", "Good morning from the quietest room in town. #books", 0, {}),
    ("amira", "Three loaves before breakfast. #baking", 3, {}),
    ("jonas", "The night train runs again from Monday. #trains https://example.com/timetable", 0, {}),
    ("mei", "Four doors, one street. #photography", 4, {}),
    ("tomas", "`enumerate` takes a second argument. Ten years of `i + 1`. #python", 0, {}),
    ("tomas", "The ending is better than the book.", 0, {"spoiler_text": "A film that came out last week"}),
    ("nora", "Which one first?", 0, {"poll": {"options": ["Stegosaurus", "Triceratops"], "expires_in": 86400}}),
    ("jonas", "@nora The lake is warm enough. Tomorrow at six?", 1, {"visibility": "direct"}),
    ("spammer", "Cheap watches, only today! https://example.net/watches", 0, {}),
    ("demo", "Welcome! Read the rules, be kind. #introduction", 0, {}),
)
#: author, index in POSTS of the post that is answered, text
REPLIES = (
    ("jonas", 1, "@amira Is there one left?"),
    ("amira", 1, "@jonas Half of one."),
    ("tomas", 3, "@mei The second one is mine!"),
    ("nora", 4, "@tomas Welcome to the club."),
)
SCOPES = ["read", "write", "follow"]


class Command(OperatorCommand):
    """Create people, posts, pictures and a report for development; only on a server whose domain is this machine."""

    # Everything is created through the client API, so that posts have all their usual effects.
    def run(self) -> None:
        if not is_loopback(settings.LOCAL_DOMAIN):
            raise CommandError(f"{settings.LOCAL_DOMAIN} is not this machine: its people are real.")
        if User.objects.filter(account__username="demo").exists():
            self.stdout.write("The demonstration exists already: there is an account @demo.")
            return
        password = secrets.token_urlsafe(9)
        people = {name: _Person(name, password) for name, *_ in PEOPLE}
        set_role(by=OPERATOR, user=people["demo"].user, role=find_role("Owner"))
        for name, shown, biography, colour in PEOPLE:
            people[name].present(shown, biography, colour)
        real = [people[name] for name, *_ in PEOPLE if name != "spammer"]
        for person in real:
            for other in real:
                if other is not person:
                    person.post(f"/api/v1/accounts/{other.user.account_id}/follow")
        ids = [people[author].publish(text, pictures, **more) for author, text, pictures, more in POSTS]
        for author, number, text in REPLIES:
            people[author].publish(text, in_reply_to_id=ids[number])
        for number, status_id in enumerate(ids):
            fans = [person for place, person in enumerate(real) if (place + number) % 3 == 0]
            for person in fans if POSTS[number][0] != "spammer" else ():
                person.post(f"/api/v1/statuses/{status_id}/favourite")
        people["demo"].post(f"/api/v1/statuses/{ids[3]}/reblog")
        spam = POSTS.index(next(post for post in POSTS if post[0] == "spammer"))
        report = {"account_id": str(people["spammer"].user.account_id), "status_ids": [ids[spam]], "category": "spam"}
        people["nora"].post("/api/v1/reports", report | {"comment": "The third time this week."})
        self.stdout.write(f"{len(PEOPLE)} people with one password: {password}")
        self.stdout.write(f"Sign in at {settings.BASE_URL}/auth/sign_in as demo@example.com, who is the owner.")


class _Person:
    """A person who signed up, with a client that acts for them."""

    def __init__(self, name: str, password: str) -> None:
        draft = SignUpDraft(username=name, email=f"{name}@example.com", password=password, agreement=True)
        self.user = create_user(by=OPERATOR, draft=draft, confirmed=True)
        token = issue_user_token(by=OPERATOR, user=self.user, scopes=SCOPES).token
        self._client = Client(headers={"Authorization": f"Bearer {token}"})
        self._colour = ""

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a POST request and return the response. Raises CommandError when the server refuses."""
        return _answer(self._client.post(path, body or {}, content_type="application/json"))

    def present(self, name: str, biography: str, colour: str) -> None:
        self._colour = colour
        pictures = {"avatar": _picture(colour, 0, 400, 400), "header": _picture(colour, 1, 1500, 500)}
        body = {"display_name": name, "note": biography, "discoverable": "true"} | pictures
        content = encode_multipart(BOUNDARY, body)
        _answer(self._client.patch("/api/v1/accounts/update_credentials", content, content_type=MULTIPART_CONTENT))

    def publish(self, text: str, pictures: int = 0, **more: Any) -> str:
        """Publish a post and return its id."""
        forms = (
            {"file": _picture(self._colour, number, 1200, 600 + 200 * number), "description": f"Pattern {number}"}
            for number in range(2, pictures + 2)
        )
        media = [_answer(self._client.post("/api/v2/media", form))["id"] for form in forms]
        return str(self.post("/api/v1/statuses", {"status": text, "media_ids": media} | more)["id"])


def _answer(response: Any) -> dict[str, Any]:
    if response.status_code >= 400:
        raise CommandError(f"{response.request['PATH_INFO']}: {response.status_code} {response.content.decode()[:200]}")
    answer: dict[str, Any] = response.json()
    return answer


def _picture(colour: str, number: int, width: int, height: int) -> SimpleUploadedFile:
    """Draw circles on a coloured background, arranged differently for each `number`; 0 draws a head with shoulders."""
    image = Image.new("RGB", (width, height), colour)
    draw = ImageDraw.Draw(image)
    if number == 0:
        for x, y, radius in ((0.5, 0.38, 0.17), (0.5, 0.95, 0.33)):
            box = (width * (x - radius), height * (y - radius), width * (x + radius), height * (y + radius))
            draw.ellipse(box, fill=(255, 235, 205))
    for place in range(6 if number else 0):
        size = min(40 + 60 * place, height // 2)
        left = (place * 311 + number * 173) % (width - size)
        top = (place * 197 + number * 131) % (height - size)
        draw.ellipse((left, top, left + size, top + size), fill=(255, 255 - 20 * place, 230 - 30 * place))
    file = io.BytesIO()
    image.save(file, "PNG")
    return SimpleUploadedFile(f"picture{number}.png", file.getvalue(), "image/png")
